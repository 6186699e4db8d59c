// Serve List of the kubelet's pod resources with grpc-go: grpc_server SOCKET MODE ANSWER.
//
// ANSWER is a file with the bytes of the message. MODE is answer, compressed, refused, silent,
// stopping (GracefulStop, then the answer) or stopped (Stop, no answer).
package main

import (
	"fmt"
	"io/ioutil"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// bytesCodec passes messages through as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(value interface{}) ([]byte, error) { return *value.(*[]byte), nil }

func (bytesCodec) Unmarshal(data []byte, value interface{}) error {
	*value.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (bytesCodec) String() string { return "proto" }

func main() {
	socket, mode := os.Args[1], os.Args[2]
	answer, err := ioutil.ReadFile(os.Args[3])
	if err != nil {
		panic(err)
	}
	options := []grpc.ServerOption{grpc.CustomCodec(bytesCodec{})}
	if mode == "compressed" {
		options = append(options, grpc.RPCCompressor(grpc.NewGZIPCompressor()))
	}
	var server *grpc.Server
	handler := func(_ interface{}, stream grpc.ServerStream) error {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		switch mode {
		case "refused":
			return status.Error(codes.ResourceExhausted, "rejected by rate limit ")
		case "silent":
			time.Sleep(time.Hour)
		case "stopping":
			go server.GracefulStop()
			time.Sleep(100 * time.Millisecond) // its GOAWAY goes first
		case "stopped":
			server.Stop()
		}
		return stream.SendMsg(&answer)
	}
	server = grpc.NewServer(append(options, grpc.UnknownServiceHandler(handler))...)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	server.Serve(listener)
	time.Sleep(time.Hour) // the calls that are left end, then this process is ended
}
