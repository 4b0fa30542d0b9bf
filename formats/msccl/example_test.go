package msccl_test

import (
	"fmt"
	"log"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/formats/msccl"
	"collsim/schedule"
)

// A file is read and proven. Here gpu 1 receives what gpu 0 never sends: what is found says where.
func ExampleRead() {
	const file = `<algo name="half" proto="LL" nchannels="1" nchunksperloop="1" ngpus="2"
    coll="broadcast" inplace="1">
  <gpu id="0" i_chunks="1" o_chunks="0" s_chunks="0"/>
  <gpu id="1" i_chunks="0" o_chunks="1" s_chunks="0">
    <tb id="0" send="-1" recv="0" chan="0">
      <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1"
        hasdep="0"/>
    </tb>
  </gpu>
</algo>`
	f, err := msccl.Read(strings.NewReader(file), foreign.Options{File: "half.xml"})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range f.Found {
		fmt.Printf("%v\n%v at rank %d: ", f.Where(v.Rank, v.Lane, v.Step), v.Kind, v.Rank)
		fmt.Println(strings.ReplaceAll(v.Text, ", ", ",\n  "))
	}
	// Output:
	// line 6: gpu 1 tb 0 step 0: r
	// deadlock at rank 1: tb 0 step 0 (r) receives from gpu 0 on channel 0,
	//   where no tb has send="1" chan="0"
}

// A schedule is written for RCCL.
func ExampleWrite() {
	s, err := schedule.Parse(`schedule pair
collective broadcast float32 in place
ranks 2
root 0
count 4
rank 0
  lane 0
    send in to 1 @0
rank 1
  lane 0
    recv from 0 into out @0
`)
	if err != nil {
		log.Fatal(err)
	}
	var file strings.Builder
	if _, err := msccl.Write(&file, s, msccl.WriteOptions{Runtime: "rccl"}); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(file.String()) {
		if words := strings.Fields(line); len(words) > 1 {
			fmt.Println(strings.Join(words[:4], " "), "…")
		}
	}
	// Output:
	// <algo name="pair" proto="Simple" nchannels="1" …
	// <gpu id="0" i_chunks="1" o_chunks="1" …
	// <tb id="0" send="1" recv="-1" …
	// <step s="0" type="s" srcbuf="i" …
	// <gpu id="1" i_chunks="0" o_chunks="1" …
	// <tb id="0" send="-1" recv="0" …
	// <step s="0" type="r" srcbuf="o" …
}
