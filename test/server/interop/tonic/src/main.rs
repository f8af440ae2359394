//! gRPC's interoperability cases with the client of tonic: tonic-cases ADDRESS CASE...

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::{iter, wrappers::ReceiverStream, Stream};
use tonic::codec::CompressionEncoding;
use tonic::metadata::{BinaryMetadataValue, MetadataMap, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status, Streaming};

mod proto {
    tonic::include_proto!("grpc.testing");
}
use proto::test_service_client::TestServiceClient;
use proto::*;

type Client = TestServiceClient<Channel>;
type Outcome = Result<(), Box<dyn std::error::Error>>;

const REQUEST_BYTES: usize = 271_828;
const RESPONSE_BYTES: i32 = 314_159;
const HEADER: &str = "x-grpc-test-echo-initial";
const TRAILER: &str = "x-grpc-test-echo-trailing-bin";
const SPECIAL: &str = "\t\ntest with whitespace\r\nand Unicode BMP \u{263a} and non-BMP \u{1f608}\t\n";

fn expect<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Outcome {
    if found == wanted {
        return Ok(());
    }
    let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
    Err(format!("{:.200}, expected {:.200}", found, wanted).into())
}

fn payload(size: usize) -> Option<Payload> {
    Some(Payload {
        body: vec![0; size],
        ..Default::default()
    })
}

fn large_request() -> SimpleRequest {
    SimpleRequest {
        response_size: RESPONSE_BYTES,
        payload: payload(REQUEST_BYTES),
        ..Default::default()
    }
}

fn asking(sizes: &[i32]) -> StreamingOutputCallRequest {
    let response_parameters = sizes
        .iter()
        .map(|&size| ResponseParameters {
            size,
            ..Default::default()
        })
        .collect();
    StreamingOutputCallRequest {
        response_parameters,
        ..Default::default()
    }
}

fn failure<T>(outcome: Result<T, Status>, code: Code) -> Result<Status, Box<dyn std::error::Error>> {
    match outcome {
        Ok(_) => Err(format!("the call succeeded, expected {code:?}").into()),
        Err(status) => expect(status.code(), code).map(|()| status),
    }
}

async fn sizes(mut responses: Streaming<StreamingOutputCallResponse>) -> Result<Vec<usize>, Status> {
    let mut sizes = Vec::new();
    while let Some(response) = responses.message().await? {
        sizes.push(response.payload.unwrap_or_default().body.len());
    }
    Ok(sizes)
}

async fn empty_unary(mut client: Client) -> Outcome {
    expect(client.empty_call(Empty {}).await?.into_inner(), Empty {})
}

async fn large_unary(mut client: Client) -> Outcome {
    expect(
        client.unary_call(large_request()).await?.into_inner().payload,
        payload(RESPONSE_BYTES as usize),
    )
}

fn uploads(sizes: &'static [usize]) -> impl Stream<Item = StreamingInputCallRequest> {
    iter(sizes.iter().map(|&size| StreamingInputCallRequest {
        payload: payload(size),
        ..Default::default()
    }))
}

async fn client_streaming(mut client: Client) -> Outcome {
    let answer = client
        .streaming_input_call(uploads(&[27182, 8, 1828, 45904]))
        .await?
        .into_inner();
    expect(answer.aggregated_payload_size, 74922)
}

async fn server_streaming(mut client: Client) -> Outcome {
    let responses = client
        .streaming_output_call(asking(&[31415, 9, 2653, 58979]))
        .await?
        .into_inner();
    expect(sizes(responses).await?, vec![31415, 9, 2653, 58979])
}

async fn ping_pong(mut client: Client) -> Outcome {
    let ping = |request_bytes, response_bytes| StreamingOutputCallRequest {
        payload: payload(request_bytes),
        ..asking(&[response_bytes])
    };
    let (requests, receiver) = mpsc::channel(1);
    // The call begins for tonic with the head of its response, which comes with the first message.
    requests.send(ping(27182, 31415)).await?;
    let mut responses = client
        .full_duplex_call(ReceiverStream::new(receiver))
        .await?
        .into_inner();
    for (expected_bytes, next) in [
        (31415, Some((8, 9))),
        (9, Some((1828, 2653))),
        (2653, Some((45904, 58979))),
        (58979, None),
    ] {
        let response = responses.message().await?.ok_or("the responses ended early")?;
        expect(response.payload, payload(expected_bytes))?;
        if let Some((request_bytes, response_bytes)) = next {
            requests.send(ping(request_bytes, response_bytes)).await?;
        }
    }
    drop(requests);
    expect(responses.message().await?.is_none(), true)
}

async fn empty_stream(mut client: Client) -> Outcome {
    let responses = client.full_duplex_call(iter([])).await?.into_inner();
    expect(sizes(responses).await?, vec![])
}

async fn timeout_on_sleeping_server(mut client: Client) -> Outcome {
    let mut asked = asking(&[31415]);
    asked.response_parameters[0].interval_us = 1_000_000;
    let (requests, receiver) = mpsc::channel(1);
    requests.send(asked).await?;
    let mut request = Request::new(ReceiverStream::new(receiver));
    request.set_timeout(Duration::from_millis(1));
    // The client's own timer and the server's answer race: tonic calls the one CANCELLED and the other by its name.
    let outcome = match client.full_duplex_call(request).await {
        Ok(response) => sizes(response.into_inner()).await,
        Err(status) => Err(status),
    };
    let status = outcome.err().ok_or("the call succeeded")?;
    expect(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), true)
}

async fn cancel_after_begin(mut client: Client) -> Outcome {
    let (requests, receiver) = mpsc::channel::<StreamingInputCallRequest>(1);
    let call = client.streaming_input_call(ReceiverStream::new(receiver));
    expect(
        tokio::time::timeout(Duration::from_millis(50), call).await.is_err(),
        true,
    )?;
    requests.closed().await;
    empty_unary(client).await
}

async fn cancel_after_first_response(mut client: Client) -> Outcome {
    let (requests, receiver) = mpsc::channel(1);
    requests.send(asking(&[31415])).await?;
    let mut responses = client
        .full_duplex_call(ReceiverStream::new(receiver))
        .await?
        .into_inner();
    expect(responses.message().await?.is_some(), true)?;
    drop(responses);
    // The connection goes on, and the next call on it is answered.
    empty_unary(client).await
}

async fn told(client: &mut Client, message: &str) -> Outcome {
    let response_status = Some(EchoStatus {
        code: 2,
        message: message.into(),
    });
    let simple = SimpleRequest {
        response_status: response_status.clone(),
        ..Default::default()
    };
    expect(
        failure(client.unary_call(simple).await, Code::Unknown)?.message(),
        message,
    )?;
    let asked = StreamingOutputCallRequest {
        response_status,
        ..Default::default()
    };
    let outcome = match client.full_duplex_call(iter([asked])).await {
        Ok(response) => sizes(response.into_inner()).await,
        Err(status) => Err(status),
    };
    expect(failure(outcome, Code::Unknown)?.message(), message)
}

async fn status_code_and_message(mut client: Client) -> Outcome {
    told(&mut client, "test status message").await
}

async fn special_status_message(mut client: Client) -> Outcome {
    told(&mut client, SPECIAL).await
}

async fn unimplemented(channel: Channel, path: &'static str) -> Outcome {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await?;
    let codec: tonic::codec::ProstCodec<Empty, Empty> = Default::default();
    let call = client.unary(
        Request::new(Empty {}),
        tonic::codegen::http::uri::PathAndQuery::from_static(path),
        codec,
    );
    failure(call.await, Code::Unimplemented).map(|_| ())
}

fn marked<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request
        .metadata_mut()
        .insert(HEADER, MetadataValue::from_static("test_initial_metadata_value"));
    request
        .metadata_mut()
        .insert_bin(TRAILER, BinaryMetadataValue::from_bytes(b"\x0a\x0b\x0a\x0b\x0a\x0b"));
    request
}

fn echoed(headers: &MetadataMap, trailers: &MetadataMap) -> Outcome {
    let header = headers.get(HEADER).ok_or("no header came back")?.to_str()?;
    expect(header, "test_initial_metadata_value")?;
    let trailer = trailers.get_bin(TRAILER).ok_or("no trailer came back")?.to_bytes()?;
    expect(&trailer[..], b"\x0a\x0b\x0a\x0b\x0a\x0b")
}

async fn custom_metadata(mut client: Client) -> Outcome {
    // Of a unary call tonic puts both together.
    let response = client.unary_call(marked(large_request())).await?;
    echoed(response.metadata(), response.metadata())?;
    let response = client.full_duplex_call(marked(iter([asking(&[31415])]))).await?;
    let headers = response.metadata().clone();
    let mut responses: Streaming<_> = Response::into_inner(response);
    while responses.message().await?.is_some() {}
    echoed(&headers, &responses.trailers().await?.ok_or("no trailers came")?)
}

fn is(value: bool) -> Option<BoolValue> {
    Some(BoolValue { value })
}

async fn client_compressed_unary(mut client: Client) -> Outcome {
    let announced = SimpleRequest {
        expect_compressed: is(true),
        ..large_request()
    };
    failure(client.unary_call(announced.clone()).await, Code::InvalidArgument)?;
    for encoding in [CompressionEncoding::Gzip, CompressionEncoding::Deflate] {
        client
            .clone()
            .send_compressed(encoding)
            .unary_call(announced.clone())
            .await?;
    }
    client
        .unary_call(SimpleRequest {
            expect_compressed: is(false),
            ..large_request()
        })
        .await?;
    Ok(())
}

async fn client_compressed_streaming(mut client: Client) -> Outcome {
    let request = StreamingInputCallRequest {
        payload: payload(27182),
        expect_compressed: is(true),
    };
    failure(
        client.streaming_input_call(iter([request.clone()])).await,
        Code::InvalidArgument,
    )?;
    let mut packing = client.send_compressed(CompressionEncoding::Gzip);
    let answer = packing
        .streaming_input_call(iter([request.clone(), request]))
        .await?
        .into_inner();
    expect(answer.aggregated_payload_size, 2 * 27182)
}

async fn server_compressed_unary(client: Client) -> Outcome {
    for is_packed in [true, false] {
        let mut accepting = client.clone().accept_compressed(CompressionEncoding::Gzip);
        let request = SimpleRequest {
            response_compressed: is(is_packed),
            ..large_request()
        };
        let response = accepting.unary_call(request).await?;
        expect(
            response.metadata().get("grpc-encoding").map(|value| value.as_bytes()),
            Some(&b"gzip"[..]),
        )?;
        expect(response.into_inner().payload, payload(RESPONSE_BYTES as usize))?;
    }
    Ok(())
}

async fn server_compressed_streaming(client: Client) -> Outcome {
    let mut accepting = client.accept_compressed(CompressionEncoding::Gzip);
    let mut asked = asking(&[31415, 92653]);
    asked.response_parameters[0].compressed = is(true);
    asked.response_parameters[1].compressed = is(false);
    let responses = accepting.streaming_output_call(asked).await?.into_inner();
    expect(sizes(responses).await?, vec![31415, 92653])
}

async fn run(name: &str, channel: Channel) -> Outcome {
    let client = Client::new(channel.clone());
    match name {
        "empty_unary" => empty_unary(client).await,
        "large_unary" => large_unary(client).await,
        "client_streaming" => client_streaming(client).await,
        "server_streaming" => server_streaming(client).await,
        "ping_pong" => ping_pong(client).await,
        "empty_stream" => empty_stream(client).await,
        "timeout_on_sleeping_server" => timeout_on_sleeping_server(client).await,
        "cancel_after_begin" => cancel_after_begin(client).await,
        "cancel_after_first_response" => cancel_after_first_response(client).await,
        "status_code_and_message" => status_code_and_message(client).await,
        "special_status_message" => special_status_message(client).await,
        "unimplemented_method" => unimplemented(channel, "/grpc.testing.TestService/UnimplementedCall").await,
        "unimplemented_service" => unimplemented(channel, "/grpc.testing.UnimplementedService/UnimplementedCall").await,
        "custom_metadata" => custom_metadata(client).await,
        "client_compressed_unary" => client_compressed_unary(client).await,
        "client_compressed_streaming" => client_compressed_streaming(client).await,
        "server_compressed_unary" => server_compressed_unary(client).await,
        "server_compressed_streaming" => server_compressed_streaming(client).await,
        _ => Err(format!("no case {name}").into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("expected an address")?;
    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
    let mut is_well = true;
    for name in arguments {
        let outcome = tokio::time::timeout(Duration::from_secs(30), run(&name, channel.clone())).await;
        match outcome.unwrap_or_else(|_| Err("it took too long".into())) {
            Ok(()) => println!("ok {name}"),
            Err(error) => {
                is_well = false;
                println!("not ok {name}: {error}");
            }
        }
    }
    std::process::exit(if is_well { 0 } else { 1 });
}
