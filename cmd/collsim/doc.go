// Command collsim simulates collective communication: it reads scenarios and prints what the
// package collsim says of them. It knows flags, streams, files and exit codes, and calculates
// nothing.
//
// Results go to standard output, notes and progress to standard error. Exit codes: 0 all is well,
// 1 a check failed, 2 wrong input or usage, 3 not available on this machine, 4 a bug in collsim,
// 5 an output was lost; 130, 143 and 129 interrupted by SIGINT, SIGTERM and SIGHUP.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	terminal: app.go streams.go columns.go terminal.go progress.go signals.go
//	errors: errors.go hints.go foreign.go astra.go complete.go terms.go
//	executors: list.go executors.go worker.go devices.go secret.go
//	outputs: files.go pagefile.go outputs.go named.go dataout.go pivot.go schedules.go
//	  streamed.go
//	pictures: pictures.go curves.go networkplot.go numericsplot.go claims.go programdata.go
//	  pages.go parts.go mapplot.go
//	runs: shards.go run.go validate.go scatter.go ncclformat.go programs.go
//	commands: init.go initnetwork.go machines.go check.go explain.go tune.go calibrate.go
//	  calibratenccl.go calibratetables.go verify.go convert.go
//	  compare.go comparebits.go diagnose.go merge.go report.go map.go diagnosehang.go
//	main: main.go man.go
package main
