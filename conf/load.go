package conf

import (
	"errors"
)

// Env looks up a variable of the environment, as os.LookupEnv does.
type Env = func(string) (string, bool)

// Load reads and checks the file at path. The error is an ErrorList, or that of
// reading the file. Relative paths in the file start from its folder.
func Load(path string, env Env) (*Config, error) { return nil, errors.New("not written") }

// Parse checks src, the text of a file called name. The error is an ErrorList.
func Parse(name string, src []byte, env Env) (*Config, error) { return nil, errors.New("not written") }

// Flags are those of "ssiedge serve"; "" is a flag that was not given.
type Flags struct{ Root, Origin, Listen, Memcache string }

// FromFlags makes a Config of flags, with the defaults and the checks of a file.
func FromFlags(f Flags) (*Config, error) { return nil, errors.New("not written") }
