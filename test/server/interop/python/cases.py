"""gRPC's interoperability cases with the client of C core: cases.py PROTO_FOLDER ADDRESS CASE..."""

import queue
import sys
import traceback

import grpc

sys.path.append(sys.argv[1])
protos, services = grpc.protos_and_services("interop.proto")

REQUEST_BYTES = 271828
RESPONSE_BYTES = 314159
DEADLINE_S = 30
METADATA = (
    ("x-grpc-test-echo-initial", "test_initial_metadata_value"),
    ("x-grpc-test-echo-trailing-bin", b"\x0a\x0b\x0a\x0b\x0a\x0b"),
)
SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001f608\t\n"


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"{str(found)[:200]!r}, expected {str(wanted)[:200]!r}")


def payload(size):
    return protos.Payload(body=bytes(size))


def fails(call, code):
    """The error that a call ends with."""
    try:
        result = call()
        if hasattr(result, "__next__"):
            for _ in result:
                pass
    except grpc.RpcError as error:
        expect(error.code(), code)
        return error
    raise AssertionError(f"the call succeeded, expected {code}")


def large_request(**more):
    return protos.SimpleRequest(response_size=RESPONSE_BYTES, payload=payload(REQUEST_BYTES), **more)


def ask(size, **more):
    parameters = [protos.ResponseParameters(size=size, **more)]
    return protos.StreamingOutputCallRequest(response_parameters=parameters)


def empty_unary(stub):
    expect(stub.EmptyCall(protos.Empty(), timeout=DEADLINE_S), protos.Empty())


def large_unary(stub):
    expect(stub.UnaryCall(large_request(), timeout=DEADLINE_S).payload, payload(RESPONSE_BYTES))


def client_streaming(stub):
    sizes = (27182, 8, 1828, 45904)
    requests = (protos.StreamingInputCallRequest(payload=payload(size)) for size in sizes)
    expect(stub.StreamingInputCall(requests, timeout=DEADLINE_S).aggregated_payload_size, sum(sizes))


def server_streaming(stub):
    sizes = [31415, 9, 2653, 58979]
    parameters = [protos.ResponseParameters(size=size) for size in sizes]
    request = protos.StreamingOutputCallRequest(response_parameters=parameters)
    responses = stub.StreamingOutputCall(request, timeout=DEADLINE_S)
    expect([len(response.payload.body) for response in responses], sizes)


class Pipe:
    """Requests of a stream, each sent when it is told to."""

    def __init__(self):
        self._queue = queue.Queue()

    def __iter__(self):
        return iter(self._queue.get, None)

    def send(self, request):
        self._queue.put(request)

    def close(self):
        self._queue.put(None)


def ping_pong(stub):
    pipe = Pipe()
    responses = stub.FullDuplexCall(iter(pipe), timeout=DEADLINE_S)
    for request_bytes, response_bytes in ((27182, 31415), (8, 9), (1828, 2653), (45904, 58979)):
        request = ask(response_bytes)
        request.payload.CopyFrom(payload(request_bytes))
        pipe.send(request)
        expect(len(next(responses).payload.body), response_bytes)
    pipe.close()
    expect(list(responses), [])


def empty_stream(stub):
    expect(list(stub.FullDuplexCall(iter(()), timeout=DEADLINE_S)), [])


def timeout_on_sleeping_server(stub):
    pipe = Pipe()
    responses = stub.FullDuplexCall(iter(pipe), timeout=0.001)
    pipe.send(ask(31415, interval_us=1_000_000))
    fails(lambda: responses, grpc.StatusCode.DEADLINE_EXCEEDED)
    pipe.close()


def cancel_after_begin(stub):
    pipe = Pipe()
    call = stub.StreamingInputCall.future(iter(pipe), timeout=DEADLINE_S)
    call.cancel()
    expect(call.code(), grpc.StatusCode.CANCELLED)
    pipe.close()


def cancel_after_first_response(stub):
    pipe = Pipe()
    responses = stub.FullDuplexCall(iter(pipe), timeout=DEADLINE_S)
    pipe.send(ask(31415))
    expect(len(next(responses).payload.body), 31415)
    responses.cancel()
    fails(lambda: responses, grpc.StatusCode.CANCELLED)
    pipe.close()


def status_of_both(stub, code, message):
    status = protos.EchoStatus(code=code.value[0], message=message)
    simple = protos.SimpleRequest(response_status=status)
    expect(fails(lambda: stub.UnaryCall(simple, timeout=DEADLINE_S), code).details(), message)
    streaming = protos.StreamingOutputCallRequest(response_status=status)
    expect(fails(lambda: stub.FullDuplexCall(iter((streaming,)), timeout=DEADLINE_S), code).details(), message)


def status_code_and_message(stub):
    status_of_both(stub, grpc.StatusCode.UNKNOWN, "test status message")


def special_status_message(stub):
    status_of_both(stub, grpc.StatusCode.UNKNOWN, SPECIAL)


def unimplemented_method(stub, channel):
    call = channel.unary_unary("/grpc.testing.TestService/UnimplementedCall")
    fails(lambda: call(b"", timeout=DEADLINE_S), grpc.StatusCode.UNIMPLEMENTED)


def unimplemented_service(stub, channel):
    call = channel.unary_unary("/grpc.testing.UnimplementedService/UnimplementedCall")
    fails(lambda: call(b"", timeout=DEADLINE_S), grpc.StatusCode.UNIMPLEMENTED)


def echoed(call):
    header, trailer = METADATA
    expect(dict(call.initial_metadata()).get(header[0]), header[1])
    expect(dict(call.trailing_metadata()).get(trailer[0]), trailer[1])


def custom_metadata(stub):
    _, call = stub.UnaryCall.with_call(large_request(), metadata=METADATA, timeout=DEADLINE_S)
    echoed(call)
    responses = stub.FullDuplexCall(iter((ask(31415),)), metadata=METADATA, timeout=DEADLINE_S)
    expect(len(list(responses)), 1)
    echoed(responses)


def yes(value):
    return protos.BoolValue(value=value)


def client_compressed_unary(stub):
    probe = large_request(expect_compressed=yes(True))
    fails(lambda: stub.UnaryCall(probe, timeout=DEADLINE_S), grpc.StatusCode.INVALID_ARGUMENT)
    for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate, grpc.Compression.NoCompression):
        request = large_request(expect_compressed=yes(compression is not grpc.Compression.NoCompression))
        response = stub.UnaryCall(request, compression=compression, timeout=DEADLINE_S)
        expect(response.payload, payload(RESPONSE_BYTES))


def client_compressed_streaming(stub):
    request = protos.StreamingInputCallRequest(payload=payload(27182), expect_compressed=yes(True))
    fails(lambda: stub.StreamingInputCall(iter((request,)), timeout=DEADLINE_S), grpc.StatusCode.INVALID_ARGUMENT)
    compression = grpc.Compression.Gzip
    answer = stub.StreamingInputCall(iter((request, request)), compression=compression, timeout=DEADLINE_S)
    expect(answer.aggregated_payload_size, 2 * 27182)


def server_compressed_unary(stub):
    for is_compressed in (True, False):
        request = large_request(response_compressed=yes(is_compressed))
        expect(stub.UnaryCall(request, timeout=DEADLINE_S).payload, payload(RESPONSE_BYTES))


def server_compressed_streaming(stub):
    sizes = ((31415, True), (92653, False))
    parameters = [protos.ResponseParameters(size=size, compressed=yes(packed)) for size, packed in sizes]
    request = protos.StreamingOutputCallRequest(response_parameters=parameters)
    responses = stub.StreamingOutputCall(request, timeout=DEADLINE_S)
    expect([len(response.payload.body) for response in responses], [size for size, _ in sizes])


def main():
    is_well = True
    with grpc.insecure_channel(sys.argv[2]) as channel:
        stub = services.TestServiceStub(channel)
        for name in sys.argv[3:]:
            case = globals()[name]
            try:
                case(stub, channel) if name.startswith("unimplemented") else case(stub)
                print("ok", name)
            except Exception:
                is_well = False
                print("not ok", name)
                traceback.print_exc(file=sys.stdout)
    return 0 if is_well else 1


sys.exit(main())
