package edge

import "golang.org/x/sys/unix"

// spareDescriptors are for all that is not a visitor's connection: roots,
// logs, listeners, memcached.
const spareDescriptors = 64

// affordable lowers a limit of connections to what the limit of open files
// allows, with one warning. Each visitor may need a second descriptor, for the
// origin or a file.
func (e *Edge) affordable(connections int) int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return connections
	}
	most := (int64(min(files.Cur, 1<<40)) - spareDescriptors) / 2
	if int64(connections) <= most {
		return connections
	}
	e.log.Warn("limits.connections is more than the limit of open files allows: lowered; raise the limit (ulimit -n, LimitNOFILE) or lower the setting",
		"connections", connections, "lowered", most, "open_files", files.Cur)
	return int(max(most, 1))
}
