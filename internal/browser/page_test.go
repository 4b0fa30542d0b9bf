package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// chromium returns the browser. A test without one is left out, unless COLLSIM_CHROMIUM names it.
func chromium(t *testing.T) string {
	if name := os.Getenv("COLLSIM_CHROMIUM"); name != "" {
		return name
	}
	name, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	return name
}

// command builds collsim.
func command(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "collsim")
	build := exec.Command("go", "build", "-C", "../..", "-o", name, "./cmd/collsim")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return name
}

// tab is a page in a browser, with all that it asked for and complained of.
type tab struct {
	context.Context
	t        *testing.T
	lock     sync.Mutex
	requests []string
	errors   []string
}

// open opens a page, with script or without.
func open(t *testing.T, browser context.Context, file string, script bool) *tab {
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{Context: ctx, t: t}
	require.NoError(t, chromedp.Do(ctx)) // the tab lives as long as the context of the first call
	p.do(chromedp.EmulateViewport(1240, 1000))
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !script})
	require.NoError(t, err)
	p.do(chromedp.Navigate("file://" + file))
	return p
}

// listen takes in what the page asks for and complains of.
func (p *tab) listen(event any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventConsoleAPICalled:
		p.errors = append(p.errors, string(e.Type))
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		p.errors = append(p.errors, e.Entry.Text)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p, time.Minute)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, actions...))
}

// eval returns what a text of JavaScript gives.
func eval[T any](p *tab, script string) T {
	p.t.Helper()
	v, err := chromedp.Run(p, chromedp.Evaluate[T](script))
	require.NoError(p.t, err, script)
	return v
}

// text returns the text of an element.
func text(p *tab, selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// changed tells the page that the value of an element has changed.
func changed(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`document.querySelector(%q).dispatchEvent(new Event("change"))`, selector))
}

// quiet requires that the page asked for nothing but itself, and complained of nothing.
func (p *tab) quiet() {
	p.t.Helper()
	p.lock.Lock()
	defer p.lock.Unlock()
	require.Empty(p.t, p.errors)
	for _, url := range p.requests {
		require.True(p.t, strings.HasPrefix(url, "file://") || strings.HasPrefix(url, "data:"), url)
	}
	require.LessOrEqual(p.t, len(p.requests), 2, p.requests) // itself, and its empty icon
}

// TestPages goes through pages as a reader does, by mouse and by keyboard.
func TestPages(t *testing.T) {
	name, dir := chromium(t), t.TempDir()
	collsim := command(t)
	write := func(file string, args ...string) string {
		to := filepath.Join(dir, file)
		out, err := exec.Command(collsim, append(args, "--report", to)...).CombinedOutput()
		require.NoError(t, err, string(out))
		return to
	}
	sweep := write("sweep.html", "example:compare")
	ring := write("ring.html", "example:ring")
	step := write("step.html", "example:training-step")
	both := write("both.html", "compare", "example:compare", "example:compare")
	why := write("why.html", "explain", "example:slow-link")

	allocator, cancel := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(name), chromedp.NoSandbox)...)
	defer cancel()
	browser, cancel := chromedp.NewContext(allocator)
	defer cancel()
	require.NoError(t, chromedp.Do(browser))

	t.Run("table", func(t *testing.T) {
		p := open(t, browser, sweep, true)
		column := `[...document.querySelectorAll("#part1 > .wide tbody tr")].filter((r) => !r.hidden)
			.map((r) => r.cells[%].textContent)`
		cells := func(n string) []string { return eval[[]string](p, strings.ReplaceAll(column, "%", n)) }
		require.Equal(t, "ring", cells("0")[0])
		p.do(chromedp.Click("#part1 th:nth-child(3) button"))
		require.Equal(t, "1.57", cells("2")[0], "the shortest time comes first")
		p.do(chromedp.SendKeys("#part1 th:nth-child(3) button", kb.Enter))
		require.Equal(t, "588.20", cells("2")[0], "then the longest, by the keyboard")
		p.do(chromedp.SetValue("#part1 select", "1"),
			changed("#part1 select"))
		require.Len(t, cells("0"), 6)
		require.NotContains(t, cells("0"), "ring")
		require.Equal(t, "6 of 30 rows", text(p, "#part1 .count"))
		p.quiet()
	})
	t.Run("heat map", func(t *testing.T) {
		p := open(t, browser, sweep, true)
		p.do(chromedp.Click("#part1 summary"), chromedp.WaitVisible("#part1 .heat"))
		cells := `[...document.querySelectorAll("#part1 .heat td")].map((c) => c.textContent)`
		require.Len(t, eval[[]string](p, cells), 30)
		p.do(chromedp.SetValue("#part1 .heatmap label:nth-child(3) select", "1"),
			changed("#part1 .heatmap label:nth-child(3) select"),
			chromedp.Click(`//details//button[text()="colour by winner"]`))
		require.Contains(t, eval[[]string](p, cells), "two-shot")
		p.quiet()
	})
	t.Run("curves", func(t *testing.T) {
		p := open(t, browser, sweep, true)
		p.do(chromedp.Focus("#part2 svg"), chromedp.KeyEvent(kb.ArrowRight),
			chromedp.KeyEvent(kb.ArrowRight))
		reading := text(p, "#part2 .detail")
		require.Contains(t, reading, "4 KiB\n")
		require.Contains(t, reading, "0.49185  ring") // as in the table
		ticks := `[...document.querySelectorAll("#part2 svg text")].map((e) => e.textContent).join(" ")`
		linear := eval[string](p, ticks)
		p.do(chromedp.Click(`//section[@id="part2"]//button[text()="log y"]`))
		require.NotEqual(t, linear, eval[string](p, ticks))
		lines := `document.querySelectorAll("#part2 polyline").length`
		before := eval[int](p, lines)
		p.do(chromedp.Click("#part2 button.series"))
		require.Equal(t, before-1, eval[int](p, lines))
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 600, 400))
		p.quiet()
	})
	t.Run("timeline", func(t *testing.T) { timeline(t, open(t, browser, ring, true)) })
	t.Run("program", func(t *testing.T) {
		p := open(t, browser, step, true)
		p.do(chromedp.Focus("#part2 canvas"), chromedp.KeyEvent(kb.ArrowRight))
		require.Contains(t, text(p, "#part2 .detail"), "rank 0 × 8, compute: norm tokens 0")
		p.quiet()
	})
	t.Run("others", func(t *testing.T) {
		for file, has := range map[string]string{both: "median 1.000", why: "critical path"} {
			p := open(t, browser, file, true)
			require.Contains(t, text(p, "body"), has)
			p.quiet()
		}
	})
	t.Run("dark, on paper, without script", func(t *testing.T) { elsewhere(t, browser, sweep) })
}

// timeline zooms, pans, picks and follows a chain.
func timeline(t *testing.T, p *tab) {
	drawn := `document.querySelector("#part2 canvas").toDataURL()`
	settle := chromedp.Evaluate[chromedp.Void](`new Promise((f) => requestAnimationFrame(
		() => requestAnimationFrame(f)))`, chromedp.EvalAwaitPromise)
	p.do(settle)
	whole := eval[string](p, drawn)
	p.do(chromedp.Focus("#part2 canvas"), chromedp.KeyEvent("+"), settle)
	require.NotEqual(t, whole, eval[string](p, drawn), "+ zooms")
	p.do(chromedp.KeyEvent("0"), settle)
	require.Equal(t, whole, eval[string](p, drawn), "0 shows all again")

	p.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	require.Contains(t, text(p, "#part2 .detail"), "rank 0: recvReduceSend\nchunk 7, round 1")
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	require.Contains(t, text(p, "#part2 .detail"), "rank 1: recvReduceSend\nchunk 0, round 1")

	p.do(chromedp.ScrollIntoView("#part2 canvas"))
	box := eval[map[string]float64](p, `(({left, top, width, height}) => ({left, top, width, height}))(
		document.querySelector("#part2 canvas").getBoundingClientRect())`)
	x, y := box["left"]+box["width"]-20, box["top"]+box["height"]-8
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	require.Contains(t, text(p, ".tip"), "rank 7: recvCopy")
	p.do(chromedp.MouseClickXY(x, y))
	require.Contains(t, text(p, "#part2 .detail"),
		"It depends on a chain of 13 steps with 13 messages, back to rank 2 at 0.")

	p.do(chromedp.SendKeys("#part2 input", "2-3"), settle)
	require.NotEqual(t, whole, eval[string](p, drawn), "two ranks are left")
	p.quiet()
}

// elsewhere looks at a page in the dark, on paper, and where script is off.
func elsewhere(t *testing.T, browser context.Context, file string) {
	paper := `getComputedStyle(document.body).backgroundColor`
	p := open(t, browser, file, true)
	light := eval[string](p, paper)
	p.do(chromedp.Click("button.theme"))
	require.NotEqual(t, light, eval[string](p, paper))
	pdf, err := chromedp.Run(p, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	require.NoError(t, err)
	require.Greater(t, len(pdf), 10_000)
	p.quiet()

	p = open(t, browser, file, false)
	html, err := chromedp.Run(p, chromedp.OuterHTML("body"))
	require.NoError(t, err)
	_, table, _ := strings.Cut(html, `id="part1"`)
	table, _, _ = strings.Cut(table, `id="part2"`)
	require.Equal(t, 30, strings.Count(table, "<tr><td"))
	require.Contains(t, html, "<svg")
	require.NotContains(t, html, "<canvas")
	p.quiet()
}
