// Command collsim simulates collective communication: it reads scenarios and prints what the
// package collsim says of them. It knows flags, streams, files and exit codes, and calculates
// nothing.
//
// Results go to standard output, notes and progress to standard error. Exit codes: 0 all is well,
// 1 a check failed, 2 wrong input or usage, 3 not available on this machine, 4 a bug in collsim,
// 5 an output was lost; 130, 143 and 129 interrupted by SIGINT, SIGTERM and SIGHUP.
package main
