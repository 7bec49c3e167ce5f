package oracle

// pair is a server and the settings of ssiedge that are to answer like it.
type pair struct {
	name   string
	apache bool     // the server is Apache; else nginx
	legacy bool     // Apache's expressions of before 2.4
	ssi    []string // lines of ssiedge's [site.ssi]
}

// pairs are all that a case may be run by. The last one shows that ssiedge
// prints what Apache does where nginx prints its error message.
var pairs = []pair{
	{name: "nginx", ssi: []string{`fragment_errors = "paste"`}},
	{name: "fail", ssi: []string{`fragment_errors = "fail"`}},
	{name: "apache", apache: true, ssi: []string{`dialect = "apache"`, `fragment_errors = "paste"`}},
	{name: "legacy", apache: true, legacy: true, ssi: []string{`dialect = "apache"`, `expressions = "legacy"`, `fragment_errors = "paste"`}},
	{name: "superset", apache: true, legacy: true, ssi: []string{`fragment_errors = "paste"`, `error_message = "[an error occurred while processing this directive]"`}},
}

func pairNamed(name string) *pair {
	for i := range pairs {
		if pairs[i].name == name {
			return &pairs[i]
		}
	}
	return nil
}

// host is the name under which a case is served to both sides of a pair.
func (p *pair) host(c *testCase) string { return c.name + "." + p.name + ".test" }
