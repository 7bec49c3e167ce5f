package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// misused says which command was called wrongly, and where to read on.
func misused(cmd *cobra.Command, err error) error {
	name := ""
	if cmd.HasParent() {
		name = cmd.Name() + ": "
	}
	return fmt.Errorf("%s%w; see %s --help", name, err, cmd.CommandPath())
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return misused(cmd, fmt.Errorf("unexpected argument %q", args[0]))
}

func oneURL(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return misused(cmd, fmt.Errorf("%d arguments: one URL is wanted", len(args)))
}

// aCommand is for the arguments of the root: what is none of its commands.
func aCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return misused(root, errors.New("which command? try: ssiedge demo"))
	}
	near := ""
	if names := root.SuggestionsFor(args[0]); len(names) > 0 {
		near = ", did you mean " + strings.Join(names, " or ") + "?"
	}
	return misused(root, fmt.Errorf("unknown command %q%s", args[0], near))
}
