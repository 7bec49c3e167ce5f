package oracle

import (
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

func TestMain(m *testing.M) { realtest.Main(m) }
