package realtest

import (
	"testing"
	"time"
)

// patience is how long a test waits for something that has to come. It is
// never reached where all is well, so it can be long enough for a machine that
// does ten other things.
const patience = time.Minute

// Eventually asks ok again and again until it says yes. It fails the test,
// naming what was waited for, when that takes a minute.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
