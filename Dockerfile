# An image with the static program and nothing else: no shell, no libraries.
#
#   docker build -t collsim .
#   docker run --rm -v "$PWD:/work" collsim FILE.toml
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags nohw -ldflags='-s -w -buildid=' \
	-o /collsim ./cmd/collsim

FROM scratch
COPY --from=build /collsim /collsim
COPY LICENSE NOTICE /
WORKDIR /work
ENTRYPOINT ["/collsim"]
