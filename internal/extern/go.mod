// A module of somebody else's: it uses collsim as a library, through what collsim exports alone.
// Only the replace line is not what it would write.
module example.org/extern

go 1.26.8

require (
	collsim v0.0.0
	github.com/leanovate/gopter v0.2.9
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace collsim => ../..
