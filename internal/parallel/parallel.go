// Package parallel does on all processors what is to be done for many things, each by itself. It
// knows nothing of what that is, and leaves no trace of how many processors there were.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls what worker returns, which it does once a goroutine, for 0 to n − 1. They write to
// different places, so that nothing depends on their order. A panic belongs to the caller.
func Each(n int, worker func() func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	each := max(1, n/max(1, 16*workers))
	var next atomic.Int64
	var panicked atomic.Pointer[string]
	work := func() {
		defer func() {
			if p := recover(); p != nil {
				told := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
				panicked.CompareAndSwap(nil, &told)
			}
		}()
		do := worker()
		for {
			to := int(next.Add(int64(each)))
			for i := to - each; i < min(to, n); i++ {
				do(i)
			}
			if to >= n {
				return
			}
		}
	}
	var done sync.WaitGroup
	for range workers - 1 {
		done.Go(work)
	}
	if workers > 0 {
		work()
	}
	done.Wait()
	if told := panicked.Load(); told != nil {
		panic(*told)
	}
}
