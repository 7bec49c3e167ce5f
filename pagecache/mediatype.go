package pagecache

const typeHTML = "text/html; charset=utf-8"

// mediaTypes are the known suffixes, lower case. Those of nginx's mime.types,
// what the web has got since, and the suffixes of compressed copies: these
// must not pass for text/html when they are asked for by name.
var mediaTypes = map[string]string{
	"html": typeHTML, "htm": typeHTML, "shtml": typeHTML, "inc": typeHTML, "ssi": typeHTML,

	"css":         "text/css; charset=utf-8",
	"csv":         "text/csv; charset=utf-8",
	"htc":         "text/x-component; charset=utf-8",
	"ics":         "text/calendar; charset=utf-8",
	"jad":         "text/vnd.sun.j2me.app-descriptor; charset=utf-8",
	"js":          "text/javascript; charset=utf-8",
	"log":         "text/plain; charset=utf-8",
	"md":          "text/markdown; charset=utf-8",
	"mjs":         "text/javascript; charset=utf-8",
	"mml":         "text/mathml; charset=utf-8",
	"txt":         "text/plain; charset=utf-8",
	"vcf":         "text/vcard; charset=utf-8",
	"vtt":         "text/vtt; charset=utf-8",
	"wml":         "text/vnd.wap.wml; charset=utf-8",
	"xml":         "text/xml; charset=utf-8",
	"yaml":        "text/yaml; charset=utf-8",
	"yml":         "text/yaml; charset=utf-8",
	"atom":        "application/atom+xml; charset=utf-8",
	"geojson":     "application/geo+json; charset=utf-8",
	"json":        "application/json; charset=utf-8",
	"jsonld":      "application/ld+json; charset=utf-8",
	"kml":         "application/vnd.google-earth.kml+xml; charset=utf-8",
	"map":         "application/json; charset=utf-8",
	"rss":         "application/rss+xml; charset=utf-8",
	"webmanifest": "application/manifest+json; charset=utf-8",
	"xhtml":       "application/xhtml+xml; charset=utf-8",
	"xsl":         "application/xml; charset=utf-8",
	"xspf":        "application/xspf+xml; charset=utf-8",

	"apng": "image/apng",
	"avif": "image/avif",
	"bmp":  "image/x-ms-bmp",
	"gif":  "image/gif",
	"ico":  "image/x-icon",
	"jng":  "image/x-jng",
	"jpeg": "image/jpeg",
	"jpg":  "image/jpeg",
	"jxl":  "image/jxl",
	"png":  "image/png",
	"svg":  "image/svg+xml; charset=utf-8",
	"svgz": "image/svg+xml",
	"tif":  "image/tiff",
	"tiff": "image/tiff",
	"wbmp": "image/vnd.wap.wbmp",
	"webp": "image/webp",

	"eot":   "application/vnd.ms-fontobject",
	"otf":   "font/otf",
	"ttf":   "font/ttf",
	"woff":  "font/woff",
	"woff2": "font/woff2",

	"aac":  "audio/aac",
	"flac": "audio/flac",
	"kar":  "audio/midi",
	"m4a":  "audio/x-m4a",
	"mid":  "audio/midi",
	"midi": "audio/midi",
	"mp3":  "audio/mpeg",
	"oga":  "audio/ogg",
	"ogg":  "audio/ogg",
	"opus": "audio/ogg",
	"ra":   "audio/x-realaudio",
	"wav":  "audio/wav",

	"3gp":  "video/3gpp",
	"3gpp": "video/3gpp",
	"asf":  "video/x-ms-asf",
	"asx":  "video/x-ms-asf",
	"avi":  "video/x-msvideo",
	"flv":  "video/x-flv",
	"m4v":  "video/x-m4v",
	"mkv":  "video/x-matroska",
	"mng":  "video/x-mng",
	"mov":  "video/quicktime",
	"mp4":  "video/mp4",
	"mpeg": "video/mpeg",
	"mpg":  "video/mpeg",
	"ogv":  "video/ogg",
	"ts":   "video/mp2t",
	"webm": "video/webm",
	"wmv":  "video/x-ms-wmv",

	"7z":      "application/x-7z-compressed",
	"ai":      "application/postscript",
	"apk":     "application/vnd.android.package-archive",
	"bin":     "application/octet-stream",
	"br":      "application/octet-stream",
	"bz2":     "application/x-bzip2",
	"cco":     "application/x-cocoa",
	"crt":     "application/x-x509-ca-cert",
	"deb":     "application/octet-stream",
	"der":     "application/x-x509-ca-cert",
	"dll":     "application/octet-stream",
	"dmg":     "application/octet-stream",
	"doc":     "application/msword",
	"docx":    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"ear":     "application/java-archive",
	"eps":     "application/postscript",
	"epub":    "application/epub+zip",
	"exe":     "application/octet-stream",
	"gz":      "application/gzip",
	"hqx":     "application/mac-binhex40",
	"img":     "application/octet-stream",
	"iso":     "application/octet-stream",
	"jar":     "application/java-archive",
	"jardiff": "application/x-java-archive-diff",
	"jnlp":    "application/x-java-jnlp-file",
	"kmz":     "application/vnd.google-earth.kmz",
	"m3u8":    "application/vnd.apple.mpegurl",
	"msi":     "application/octet-stream",
	"msm":     "application/octet-stream",
	"msp":     "application/octet-stream",
	"odg":     "application/vnd.oasis.opendocument.graphics",
	"odp":     "application/vnd.oasis.opendocument.presentation",
	"ods":     "application/vnd.oasis.opendocument.spreadsheet",
	"odt":     "application/vnd.oasis.opendocument.text",
	"pdb":     "application/x-pilot",
	"pdf":     "application/pdf",
	"pem":     "application/x-x509-ca-cert",
	"pl":      "application/x-perl",
	"pm":      "application/x-perl",
	"ppt":     "application/vnd.ms-powerpoint",
	"pptx":    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"prc":     "application/x-pilot",
	"ps":      "application/postscript",
	"rar":     "application/x-rar-compressed",
	"rpm":     "application/x-redhat-package-manager",
	"rtf":     "application/rtf",
	"run":     "application/x-makeself",
	"sea":     "application/x-sea",
	"sit":     "application/x-stuffit",
	"swf":     "application/x-shockwave-flash",
	"tar":     "application/x-tar",
	"tcl":     "application/x-tcl",
	"tgz":     "application/gzip",
	"tk":      "application/x-tcl",
	"war":     "application/java-archive",
	"wasm":    "application/wasm",
	"wmlc":    "application/vnd.wap.wmlc",
	"xls":     "application/vnd.ms-excel",
	"xlsx":    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"xpi":     "application/x-xpinstall",
	"xz":      "application/x-xz",
	"zip":     "application/zip",
	"zst":     "application/zstd",
}

// longestSuffix is the length of the longest known suffix.
const longestSuffix = 11

// TypeByName gives the Content-Type of a page by the suffix of its name or
// path, in either case: of a text with charset=utf-8. A name without a suffix,
// or whose dot is no known one (St.Louis), is text/html.
func TypeByName(name string) string {
	if t, ok := knownSuffix(name); ok {
		return t
	}
	return typeHTML
}

// knownSuffix finds the type of a name by its suffix. It does not allocate.
func knownSuffix(name string) (mediaType string, known bool) {
	var lower [longestSuffix]byte
	i := len(lower)
	for end := len(name); end > 0; end-- {
		c := name[end-1]
		if c == '.' {
			mediaType, known = mediaTypes[view(lower[i:])]
			return mediaType, known
		}
		if i == 0 || c == '/' {
			break
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		i--
		lower[i] = c
	}
	return "", false
}
