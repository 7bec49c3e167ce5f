package edge

import (
	"os/user"
	"strconv"
	"sync"
)

// users remembers what the system calls the owners of files. They are few, and
// keep their names while the process runs.
type users struct{ names sync.Map } // uint32 -> []byte; nil: it has no name

func (u *users) name(uid uint32) ([]byte, bool) {
	known, ok := u.names.Load(uid)
	if !ok {
		var name []byte
		if found, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
			name = []byte(found.Username)
		}
		known, _ = u.names.LoadOrStore(uid, name)
	}
	name := known.([]byte)
	return name, name != nil
}
