# All images for both processors, in one build: `docker buildx bake -f deploy/docker-bake.hcl --push` in a checkout.
# Each variable can be set in the environment. docs/releasing.md has the command of a release.
variable "REPOSITORY" { default = "remexec" }
variable "VERSION" { default = "" }
variable "REVISION" { default = "" }
variable "SOURCE" { default = "" }

group "default" {
  targets = ["remexec", "remexec-full", "remexec-conformance"]
}

target "common" {
  context    = "."
  dockerfile = "deploy/Containerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  args = {
    VERSION  = VERSION
    REVISION = REVISION
    SOURCE   = SOURCE
  }
}

target "remexec" {
  inherits = ["common"]
  target   = "remexec"
  tags     = VERSION == "" ? ["${REPOSITORY}:latest"] : ["${REPOSITORY}:latest", "${REPOSITORY}:${VERSION}"]
}

target "remexec-full" {
  inherits = ["common"]
  target   = "remexec-full"
  tags     = VERSION == "" ? ["${REPOSITORY}-full:latest"] : ["${REPOSITORY}-full:latest", "${REPOSITORY}-full:${VERSION}"]
}

target "remexec-conformance" {
  inherits = ["common"]
  target   = "remexec-conformance"
  tags     = VERSION == "" ? ["${REPOSITORY}-conformance:latest"] : ["${REPOSITORY}-conformance:latest", "${REPOSITORY}-conformance:${VERSION}"]
}
