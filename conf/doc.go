// Package conf reads ssiedge.toml into the Options of the packages that do the
// work, and says every mistake of the file at once, each at its line and column
// and with what cures it.
//
// [Load] reads a file, [Parse] its text, [FromFlags] makes the same of the
// flags of "ssiedge serve". All three give a [Config] with every default in
// place, or an [ErrorList].
//
// # How a file is read
//
//  1. The TOML library judges the syntax; a mistake there comes alone, as
//     nothing behind it can be trusted.
//  2. tree.go makes a tree of nodes, each with its place and its key, and puts
//     the environment in for ${NAME}.
//  3. settings.go lists every known setting with its default, as TOML. A setting
//     that the file does not have is read from there, so defaults and values
//     take the same way. unknown.go and unbuilt.go judge the names.
//  4. One file a table (listen.go, site.go, rule.go, ...) reads nodes into
//     Options. A reader that meets a mistake notes it and goes on.
//
// A Config is not changed by this package after it was returned, and nothing in
// it refers to the source. The functions are safe in parallel.
package conf
