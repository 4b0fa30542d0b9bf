// Package parallel distributes independent work over all processors. It knows nothing of the work,
// and its results do not depend on the number of processors.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls a function for 0 to n − 1 on several goroutines. Each goroutine gets its function from
// worker. The calls must write to different places, so that nothing depends on their order. A panic
// is raised again in the caller.
func Each(n int, worker func() func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	each := max(1, n/max(1, 16*workers))
	var next atomic.Int64
	var panicked atomic.Pointer[string]
	work := func() {
		defer func() {
			if p := recover(); p != nil {
				text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
				panicked.CompareAndSwap(nil, &text)
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
	if text := panicked.Load(); text != nil {
		panic(*text)
	}
}
