/// The messages of fixtures/test/interop.proto, without a protoc of the machine.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = "../../../../fixtures/test";
    println!("cargo:rerun-if-changed={folder}/interop.proto");
    let descriptors = protox::compile(["interop.proto"], [folder])?;
    tonic_build::configure().build_server(false).compile_fds(descriptors)?;
    Ok(())
}
