package ssi

import (
	"strings"
	"testing"
	"time"
)

// request is what a visitor of the pages under test sends.
var request = vars{
	"request_method": "GET", "scheme": "http", "uri": "/a/page.shtml", "document_uri": "/a/page.shtml", "args": "q=1&x=%41",
	"request": "GET /a/page.shtml?q=1&x=%41 HTTP/1.1", "remote_addr": "127.0.0.1", "remote_port": "4711", "https": "",
	"server_name": "localhost", "server_port": "80", "server_protocol": "HTTP/1.1", "server_software": "ssiedge",
	"http_x_name": "xv", "http_cookie": "c=1", "http_referer": "http://ref/", "http_host": "localhost:80",
	"a": "1", "b": "two", "zero": "0", "empty": "", "re": "t.o",
}

// Every row was asked of Apache 2.4.71, and but for those marked "beyond" it says the same.
func TestApExpr(t *testing.T) {
	env := &Env{Includer: &one{}, Variables: request, Now: time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC), Location: time.UTC}
	for name, rows := range map[string]map[string]string{
		"logic": apLogic, "words": apWords, "variables": apVariables, "functions": apFunctions, "comparisons": apComparisons,
		"patterns": apPatterns, "networks": apNetworks, "refused": apRefused,
	} {
		t.Run(name, func(t *testing.T) {
			for expr, want := range rows {
				if got := evaluate(t, Options{Dialect: DialectApache}, env, expr); got != want {
					t.Errorf("%s: %s, wanted %s", expr, got, want)
				}
			}
		})
	}
}

var apLogic = map[string]string{
	`true`: "true", `false`: "false", `! true`: "false", `!true`: "false", `not true`: "false", `!!true`: "true", `! ! true`: "true",
	`not not true`: "true", `true and false`: "false", `true or false`: "true", `true && false || true`: "true",
	`true || true && false`: "true", `false && true || true`: "true", `(true || true) && false`: "false",
	`!(true && false)`: "true", `! false && false`: "false", `true&&true`: "true", `-n v('a') && -n v('b')`: "true",
	`(-n v('a'))`: "true", `('a' = 'a')`: "true", `'a' = 'b' || 'c' = 'c'`: "true", `  'a' = 'a'  `: "true",
	"'a'\n=\t'a'": "true", `not 'c' in {'a','b'}`: "true",
	``: "error", `!`: "error", `AND`: "error", `TRUE`: "error", `true AND true`: "error", `trueand true`: "error", `true true`: "error",
	`&& true`: "error", `true &&`: "error", `( 'a' = 'a'`: "error", `'a' = 'a' )`: "error", `'a' = 'a' x`: "error",
	`'a' = 'a' = 'a'`: "error", `# comment`: "error", `'a' = 'a' # c`: "error",
}

var apWords = map[string]string{
	`'x'`: "error", `''`: "error", `1`: "error", `v('a')`: "error", `%{QUERY_STRING}`: "error", `$0 = ''`: "true",
	`-n 'x'`: "true", `-z ''`: "true", `-n ''`: "false", `-n 0`: "true", `-T 0`: "false", `-n'x'`: "true", `-nx`: "error", `-n`: "error",
	`"a\tb" =~ /^a\tb$/`: "true", `'a\x41' = 'aA'`: "false", `'\101' = 'A'`: "true", `'\9' = '9'`: "error", `'\400' = 'x'`: "error",
	`'it\'s' = "it's"`: "true", `'a"b' = 'a"b'`: "true", `'$x' =~ /^.x$/`: "true", `'$1' = ''`: "true", `"$a" = '1'`: "false",
	`'a$' =~ /a.$/`: "true", `'%{x' = ''`: "error", `'100%' = '100%'`: "true", `'%' = '%'`: "true", `'a{b}' = 'a{b}'`: "true",
	"'a\nb' = 'a'": "error", `'a`: "error",
	`'a' . 'b' = 'ab'`: "true", `'a'.'b' == 'ab'`: "true", `1 . 2 = '12'`: "true", `1.2 = '12'`: "true", `'a' . 1 = 'a1'`: "true",
	`'a' . v('b') . 'c' = 'atwoc'`: "true", `-n 'a' . 'b'`: "true", `1 = '1'`: "true", `1 = 01`: "false",
	`('a') = 'a'`: "error", `'a' = ('a')`: "error", `-n ('a')`: "error", `$a = 1`: "error", `a = 'a'`: "error", `'a' = a`: "error",
	`'a' =`: "error", `= 'a'`: "error", `'' = ''`: "true", `"" = ''`: "true",
	`'%{env:a}-%{env:b}' = '1-two'`: "true", `"%{a}-%{b}" = '-'`: "error", `%{env:a b} = ''`: "true",
	`%{toupper:a$0} = 'A'`: "true", `%{tolower:%{env:b}} = 'two'`: "true",
	`%{ QUERY_STRING } = ''`: "error", `%{QUERY_STRING } = ''`: "error", `%{} = ''`: "error", `%{:toupper('a'):} = 'A'`: "error",
}

var apVariables = map[string]string{
	`v('a') = '1'`: "true", `v("a") -eq 1`: "true", `v('A') = '1'`: "true", `v('nosuch') = ''`: "true", `-z v('nosuch')`: "true",
	`reqenv('a') = '1'`: "true", `env('a') = '1'`: "true", `%{env:a} = '1'`: "true", `%{reqenv:a} = '1'`: "true", `%{v:a} = '1'`: "true",
	`%{a} = '1'`: "error", `%{NOSUCH} = ''`: "error", `%{QUERY_STRING} = 'q=1&x=%41'`: "true", `%{QUERY_STRING}='x'`: "false",
	`%{REQUEST_METHOD} == 'GET'`: "true", `%{request_method} = 'GET'`: "true", `%{REQUEST_SCHEME} = 'http'`: "true",
	`%{REQUEST_URI} = '/a/page.shtml'`: "true", `%{DOCUMENT_URI} = '/a/page.shtml'`: "true", `%{THE_REQUEST} =~ /q=1/`: "true",
	`%{REMOTE_ADDR} = '127.0.0.1'`: "true", `%{REMOTE_HOST} = '127.0.0.1'`: "true", `%{CONN_REMOTE_ADDR} = '127.0.0.1'`: "true",
	`%{REMOTE_PORT} -gt 0`: "true", `%{REMOTE_USER} = ''`: "true", `%{AUTH_TYPE} = ''`: "true", `%{PATH_INFO} = ''`: "true",
	`%{SERVER_NAME} = 'localhost'`: "true", `%{SERVER_PORT} = '80'`: "true", `%{SERVER_PROTOCOL} = 'HTTP/1.1'`: "true",
	`%{SERVER_SOFTWARE} = 'ssiedge'`: "true", `%{IS_SUBREQ} = 'false'`: "true", `%{HTTPS} = 'off'`: "true", `%{IPV6} = 'off'`: "true",
	`%{TIME} = '20261129010203'`: "true", `%{TIME_YEAR}.%{TIME_MON}.%{TIME_DAY} = '20261129'`: "true",
	`%{TIME_HOUR}.%{TIME_MIN}.%{TIME_SEC} = '010203'`: "true", `%{TIME_WDAY} = '0'`: "true",
	`%{HTTP:X-Name} == 'xv'`: "true", `http('x-name') == 'xv'`: "true", `req('x-name') == 'xv'`: "true", `req_novary('x-name') == 'xv'`: "true",
	`%{HTTP_COOKIE} == 'c=1'`: "true", `%{HTTP:Cookie} = 'c=1'`: "true", `%{HTTP_REFERER} =~ /ref/`: "true", `%{HTTP_HOST} =~ /^local/`: "true",
	`%{HTTP_ACCEPT} = ''`: "true", `%{HTTP:Authorization} = ''`: "true",
	`%{HTTP_X_NAME} == 'xv'`: "true", // beyond
	`%{DOCUMENT_NAME} = ''`:  "error", `%{DATE_LOCAL} = ''`: "error", `%{SCRIPT_NAME} = ''`: "error",
}

var apFunctions = map[string]string{
	`tolower('AB') = 'ab'`: "true", `toupper('ab') = 'AB'`: "true", `ToLower('A') = 'a'`: "true", `V('a') = '1'`: "true",
	`escape('a b') = 'a%20b'`: "true", `escape('/?&=') = '/%3f&='`: "true", `escape('a:b') = 'a:b'`: "true", `escape('$') = '$'`: "true",
	`escape("'") = "'"`: "true", `escape('é') = '%c3%a9'`: "true", `unescape('a%20b') = 'a b'`: "true", `unescape('a+b') = 'a+b'`: "true",
	`unescape('a%2fb') = 'a%2fb'`: "true", `unescape('%2F%41') = '%2FA'`: "true", `unescape('a%zzb%41') = ''`: "true", `unescape('%4') = ''`: "true",
	`unescape('%00') = ''`: "true", `base64('ab') = 'YWI='`: "true", `unbase64('YWI=') = 'ab'`: "true", `unbase64('YW') = 'a'`: "true",
	`unbase64('!!') = ''`: "true", `unbase64('Y W I=') = ''`: "true", `unbase64('YWI=YWI=') = 'ab'`: "true",
	`md5('ab') = '187ef4436122d1cc2f40dc2b92f0eba0'`: "true", `sha1('ab') = 'da23614e02469a0d7c7bd1bdab5c9c474b1904dc'`: "true",
	`%{tolower:AB} = 'ab'`: "true", `%{base64:ab} = 'YWI='`: "true", `tolower('Ä') = 'Ä'`: "true",
	`v( 'a' ) = '1'`: "true", `v ('a') = '1'`: "true", `v(v('b')) = ''`: "true", `tolower(v('b') . 'X') = 'twox'`: "true",
	`v('a','b') = '1'`: "error", `v('a' = '1'`: "error", `nosuch('x') = ''`: "error", `tolower(('A')) = 'a'`: "error", `v() = ''`: "error",
}

var apComparisons = map[string]string{
	`'a'='a'`: "true", `'a'=='a'&&'b'=='b'`: "true", `'a' != 'a'`: "false", `'a' < 'b'`: "true", `'10' < '9'`: "true", `'a' <= 'a'`: "true",
	`'a' >= 'b'`: "false", `'a' > 'A'`: "true", `'a' < 'B'`: "false",
	`'1' -lt '2'`: "true", `'10' -gt '9'`: "true", `'10' gt '9'`: "true", `'a' lt 'b'`: "false", `'a' eq 'b'`: "true", `'a' ne 'b'`: "false",
	`'a' -ne 'b'`: "false", `1 le 1`: "true", `1 -le 0`: "false", `1 ge 1`: "true", `1 -ge 2`: "false", `'1x' -eq '1'`: "true",
	`'abc' -eq '0'`: "true", `' 1' -eq '1'`: "true", `'+1' -eq '1'`: "true", `'-1' -lt '0'`: "true", `-1 -lt 0`: "true", `01 -eq 1`: "true",
	`'' -eq '0'`: "true", `'9999999999' -gt '1'`: "true", `'99999999999999999999' -gt '9223372036854775806'`: "true",
	`'99999999999999999999' -eq '9223372036854775807'`: "true", `'0x10' -eq '16'`: "false", `'a' -EQ 'a'`: "error", `-eq 1`: "error",
	`-T 'on'`: "true", `-T 'Off'`: "false", `-T 'NO'`: "false", `-T '0'`: "false", `-T '00'`: "true", `-T ''`: "false", `-T 'FALSE'`: "false",
	`-T v('zero')`: "false", `-T v('a')`: "true", `-T %{HTTPS}`: "false", `-q 'x'`: "error", `'a' -nosuch 'b'`: "error",
	`'a' in {'a','b'}`: "true", `'c' in {'a','b'}`: "false", `'c' -in {'a','b'}`: "false", `'a' in { 'b' , 'a' }`: "true", `'A' in {'a'}`: "false",
	`'' in {''}`: "true", `'a' . 'b' in {'ab'}`: "true", `'a' in {'x' . 'y', v('b'), 'a'}`: "true",
	`'a' in {}`: "error", `'a' in 'a'`: "error", `'a' in v('a')`: "error", `'a' in {'a'`: "error", `'a' in {'a' 'b'}`: "error",
	`-A '/there.html'`: "true", `-U v('b')`: "true", `-A "a\nb"`: "false",
}

var apPatterns = map[string]string{
	`'a' =~ /A/i`: "true", `'a' =~ /A/`: "false", `'a' !~ /A/`: "true", `'a' =~ m#A#i`: "true", `'a' =~ m,a,`: "true", `'a' =~ //`: "true",
	`'a/b' =~ m#a/b#`: "true", `'a' =~ /x/i || true`: "true", `'a' =~ /x/ || true`: "true", `'a' =~ /x/i&&true`: "false",
	`'abc' =~ /a(b)c/ && $1 = 'b'`: "true", `'abc' =~ /a(b)c/ && '$1' = 'b'`: "true", `'abc' =~ /a(b)c/ && '$1x' = 'bx'`: "true",
	`'abc' =~ /a(b)c/ && $0 = 'abc'`: "true", `'abc' =~ /a(b)c/ && $2 = ''`: "true", `'abc' =~ /a(b)c/ && '\$1' = 'b'`: "false",
	`'a' =~ /A/g`: "error", `'a' =~ /A/x`: "error", `'a' =~ m a`: "error", `'a' =~ m(a)`: "error", `'a' =~ 'a'`: "error", `'a' =~ $0`: "error",
	`'a' =~ /(/`: "error", `'a' =~ /a`: "error", `'a' =~ /a/ i`: "error", `'a' =~`: "error", `'a' =~ /a\/`: "error",
	`'a/b' =~ /a\/b/`: "true", `'a#' =~ m#a\##`: "true", `'x\na' =~ /^A$/im`: "true", `'a' =~ /A/ims`: "true", // beyond
	`'abc' -strmatch 'a*'`: "true", `'ABC' -strmatch 'a*'`: "false", `'ABC' -strcmatch 'a*'`: "true", `'a/b' -strmatch 'a*b'`: "true",
	`'a/b' -fnmatch 'a*b'`: "false", `'ab' -fnmatch 'a*b'`: "true", `'two' -strmatch v('re')`: "false", `'ab' -strmatch 'a[b-c]'`: "true",
	`'ab' -strmatch 'a?'`: "true", `'a*' -strmatch 'a\\*'`: "true", `'ab' -strmatch 'a\\*'`: "false", `'.a' -strmatch '*a'`: "true",
	`'.a' -fnmatch '*a'`: "true", `'a/.b' -fnmatch 'a/*'`: "true", `'a/b' -fnmatch 'a?b'`: "false", `'a' -strmatch '[!b]'`: "true",
	`'a' -strmatch '[^b]'`: "true", `'aB' -strcmatch 'Ab'`: "true", `'aB' -strcmatch 'A[a-c]'`: "true", `'a[' -strmatch 'a['`: "true",
	`'a' -strmatch '[a'`: "false",
}

var apNetworks = map[string]string{
	`'127.0.0.1' -ipmatch '127.0.0.0/8'`: "true", `'127.0.0.1' -ipmatch '127.0.0.1'`: "true", `'127.0.0.1' -ipmatch '127'`: "true",
	`'127.0.0.1' -ipmatch '127.0'`: "true", `'127.0.0.1' -ipmatch '127.'`: "true", `'127.0.0.1' -ipmatch '127.0.0.0/255.0.0.0'`: "true",
	`'127.0.0.1' -ipmatch '127.0.0.1/8'`: "true", `'127.0.0.1' -ipmatch '127.0.0.1/255.0.0.0'`: "true", `'::1' -ipmatch '::1/128'`: "true",
	`'::ffff:127.0.0.1' -ipmatch '127.0.0.0/8'`: "true", `'x' -ipmatch '10.0.0.0/8'`: "false", `'' -ipmatch '10.0.0.0/8'`: "false",
	`'127.0.0.1' -ipmatch v('a')`: "error", `'127.0.0.1' -ipmatch 'x'`: "error", `'127.0.0.1' -ipmatch '127.0.0.0/99'`: "error",
	`'127.0.0.1' -ipmatch '127.0.0.0/255.0.255.0'`: "error", `'127.0.0.1' -ipmatch '::ffff:127.0.0.1'`: "error", `'127.0.0.1' -ipmatch ''`: "error",
	`'127.0.0.1' -ipmatch 127`: "true", // beyond
	`-R '127.0.0.1'`:           "true", `-R '127.0.0.0/8'`: "true", `-R '10.0.0.0/8'`: "false", `-R '::1'`: "false", `-R 'x'`: "error",
	`-R '300.1.1.1'`: "error", `-R v('a')`: "error",
}

// -F asks Apache for a file, and resp, note and osenv show what is its own; here they are refused.
var apRefused = map[string]string{
	`-e '/etc/passwd'`: "error", `-f '/etc/passwd'`: "error", `-d '/'`: "error", `-s '/etc/passwd'`: "error", `-L '/x'`: "error", `-h '/x'`: "error",
	`-x '/x'`: "error", `-F '/etc/passwd'`: "error", `file('/etc/passwd') = ''`: "error", `filesize('/etc/passwd') = ''`: "error",
	`osenv('PATH') = ''`: "error", `note('x') = ''`: "error", `resp('Content-Type') = 'text/html'`: "error",
	`PeerExtList('x')`: "error", `sub s/a/b/, 'a' = 'b'`: "error", `join({'a','b'}, ',') = 'a,b'`: "error",
}

// What is wrong in an expression is named at its place, with the cure.
func TestApExprProblems(t *testing.T) {
	for expr, want := range map[string]string{
		`$a = 1`:                       "page:1:15: $ begins no variable in ap_expr; write v('a'), or set expressions = \"legacy\"",
		`v('a')`:                       "page:1:21: a word alone is no condition; compare it, as in v('name') = 'text', or test it with -n or -z",
		`'a' = b`:                      "page:1:21: \"b\" is neither quoted nor a function; put text in quotes, or write v('b') for a variable",
		`('a' = 'b'`:                   "page:1:25: parenthesis is not closed; close it with )",
		`'a' = 'b' 'c'`:                "page:1:25: expression goes on with \"'\" where it should end; join conditions with && or ||",
		`-e '/etc/passwd'`:             "page:1:15: -e looks at files, which pages may not; leave it out",
		`'abc' =~ /a(?!c)/`:            "page:1:26: regular expression: look-ahead is not known to RE2; use a second condition with !=",
		`'abc' =~ /a(?!c)/i`:           "page:1:26: regular expression: look-ahead is not known to RE2; use a second condition with !=",
		`%{NOSUCH} = 'a'`:              "page:1:15: no variable of the request is called \"NOSUCH\"; write v('NOSUCH') for one that pages see or set",
		`'a' = 'b`:                     "page:1:21: text is not closed; close it with '",
		`%{env:a = 'b'`:                "page:1:20: text is not closed; close it with }",
		`'a' in {'b' 'c'}`:             "page:1:27: list is not closed; separate words with commas, and close the list with }",
		`-R v('a')`:                    "page:1:17: network is not a constant; write it out, as in '10.0.0.0/8'",
		`file('/etc/passwd') = ''`:     "page:1:15: file reads files, which pages may not; include the file instead",
		`-eq 1`:                        "page:1:15: nothing stands before -eq; write what to compare, as in v('name') -eq ...",
		`'a' =~ /a/g`:                  "page:1:25: \"g\" are no flags of a regular expression; flags are i s m",
		strings.Repeat("(", 101) + "1": "page:1:116: expression is nested too deep; take out parentheses, or use set and a second condition",
	} {
		list := Compile("page", []byte("<!--#if expr=`"+expr+"` --><!--#endif -->"), Options{Dialect: DialectApache}).Problems()
		if len(list) != 1 || list[0].String() != want {
			t.Errorf("%s: %v, wanted %s", expr, list, want)
		}
	}
}

// admits refuses what begins with /private.
type admits struct{ one }

func (*admits) Admits(inc *Include) bool { return !strings.HasPrefix(inc.URL, "/private") }

func TestAdmits(t *testing.T) {
	ap := Options{Dialect: DialectApache}
	legacy := Options{Dialect: DialectApache, Expressions: ExpressionsLegacy}
	for _, tt := range []struct {
		o          Options
		expr, want string
	}{
		{ap, `-A '/there'`, "true"}, {ap, `-U '/private/x'`, "false"}, {ap, `! -A '/private/' . v('a')`, "true"},
		{legacy, `-A /there`, "true"}, {legacy, `-A /private/x`, "false"}, {legacy, `-A /private/x || $a`, "true"},
		{legacy, `! -A /private/x`, "true"}, {legacy, `(-A '/there')`, "true"}, {legacy, `-A $p`, "false"},
		{legacy, `$a = -A`, "false"}, {legacy, `-A`, "error"}, {Options{}, `-A /private/x`, "false"},
	} {
		if got := evaluate(t, tt.o, &Env{Includer: &admits{}, Variables: vars{"a": "1", "p": "/private"}}, tt.expr); got != tt.want {
			t.Errorf("%+v, %s: %s, wanted %s", tt.o, tt.expr, got, tt.want)
		}
	}
	if got := evaluate(t, ap, &Env{}, `-A '/there'`); got != "false" {
		t.Errorf("without an Includer: %s", got)
	}
}

// placed is the variables of a document that is not where they say.
type placed struct{ vars }

func (placed) Place() (path, query []byte) { return []byte("/part"), []byte("z") }

func TestApExprPlace(t *testing.T) {
	expr := `%{REQUEST_URI} = '/part' && %{QUERY_STRING} = 'z' && %{DOCUMENT_URI} = '/page' && v('args') = 'q'`
	v := placed{vars{"uri": "/page", "document_uri": "/page", "args": "q"}}
	if got := evaluate(t, Options{Dialect: DialectApache}, &Env{Variables: v}, expr); got != "true" {
		t.Errorf("got %s", got)
	}
}

// The surroundings may panic; then neither side of the condition is printed.
func TestExprPanic(t *testing.T) {
	panics := 0
	env := &Env{Variables: panicking{}, Panicked: func(any, []byte) { panics++ }}
	for _, o := range []Options{{}, {Dialect: DialectApache, Expressions: ExpressionsLegacy}} {
		if got := evaluate(t, o, env, `$a = b`); got != "error" {
			t.Errorf("got %s", got)
		}
	}
	if panics != 2 {
		t.Errorf("%d panics were told of", panics)
	}
}

type panicking struct{}

func (panicking) Lookup(string) ([]byte, bool) { panic("lookup") }
