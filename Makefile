# What a developer needs every day. .ci/run calls the same targets.

# Debian's names of what the tests run against: nginx and Apache as oracles,
# memcached, a real Rails app and a large one, a browser, and the pages that the trace is
# replayed over.
PACKAGES = nginx apache2-bin memcached curl ruby-railties ruby-actionpack-page-caching ruby-dalli puma postgresql-doc-15 \
	redmine redmine-sqlite dbconfig-sqlite3 chromium

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
FUZZTIME ?= 5000x
TIMEOUT ?= 30m

.PHONY: test check build demo deps fmt vet lint race arrows fuzz vuln conformance bench bench-disk

# The whole test suite, on a machine that may be fresh.
test: deps
	go test -timeout $(TIMEOUT) ./...

# All that has to hold before a change lands.
check: fmt vet lint race fuzz

build:
	go build -trimpath -o bin/ssiedge ./cmd/ssiedge

demo:
	go run ./cmd/ssiedge demo

# Installs what is missing of PACKAGES where it can (as root, with apt), without
# starting the servers among them; elsewhere it says what is missing, and the
# tests that need it are skipped, or fail if CI=true or SSIEDGE_REQUIRE=1.
deps:
	@missing=; \
	for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "not installed, and not to be had here (that takes root and apt):$$missing"; exit 0; \
	fi; \
	echo "installing:$$missing"; \
	if [ ! -e /usr/sbin/policy-rc.d ]; then \
		printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d; chmod 755 /usr/sbin/policy-rc.d; \
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT; \
	fi; \
	apt-get update -qq && \
	printf 'redmine redmine/instances/default/%s\n' 'dbconfig-install boolean true' 'database-type select sqlite3' | debconf-set-selections && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null || \
	echo "could not be installed:$$missing"

fmt:
	@files=$$(gofmt -l .); \
	if [ -n "$$files" ]; then echo "not formatted by gofmt:"; echo "$$files"; exit 1; fi

vet:
	go vet ./...

lint:
	go run $(STATICCHECK) ./...

race:
	go test -race -shuffle=on -timeout $(TIMEOUT) ./...

# Who may import what, and what a proxy must not call.
arrows:
	go test -count=1 -v .

# Each fuzz target for so many inputs; FUZZTIME=10m for a long run. Not for so
# many seconds by default: at the end of them the go command now and then says
# "context deadline exceeded" and fails (go.dev/issue/75804, until Go 1.27).
fuzz:
	@for package in $$(go list ./...); do \
		targets=$$(go test -list '^Fuzz' $$package) || { echo "$$targets"; exit 1; }; \
		for target in $$(echo "$$targets" | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package || exit 1; \
		done; \
	done

# Known holes in what we import. The database comes over the net: where that is
# not to be had, this says so and is no failure.
vuln:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	GOBIN="$$dir" go install $(GOVULNCHECK) && \
	{ timeout 120 "$$dir/govulncheck" ./... >"$$dir/out" 2>&1; code=$$?; cat "$$dir/out"; \
	case $$code in \
		0|3) exit $$code ;; \
		*) echo "govulncheck could not run here (exit code $$code): nothing was checked for known holes" ;; \
	esac; }

# The public test suite of HTTP caches against a real ssiedge: node, and the
# suite's own repository, after "npm install" there (docs/conformance.md).
# SETTINGS=bench/conformance-defaults.toml: with our defaults; TEST=id: one test.
SETTINGS ?= bench/conformance.toml
conformance: build
	@test -n "$(SUITE)" || { echo "say where the suite is: make conformance SUITE=dir"; exit 2; }
	node bench/conformance.mjs "$(SUITE)" bin/ssiedge "$(SETTINGS)" $(TEST)

# Speed beside nginx, Varnish and a bare handler (bench/README.md), with ARGS.
bench: build
	go run ./bench/speed $(ARGS)

# A start over a million pages on the disk: the time to the first page, until all
# are counted, and the memory that takes. It needs 5 GB under TMPDIR, and minutes.
bench-disk:
	go test -run '^$$' -bench DiskStart -benchtime 1x -timeout 1h ./pagecache
