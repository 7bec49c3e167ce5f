package pagecache

// TypeByName gives the Content-Type of a file.
func TypeByName(name string) string { return "text/html; charset=utf-8" }
