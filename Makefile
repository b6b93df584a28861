# DualCam's commands; `make help` lists them. Everything longer than a line is in tools/.

PREFIX = /usr/local
DESTDIR =
# How long `make soak` takes.
MINUTES = 1
# Where the built binaries are.
BIN_DIR = .build/release

BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
DOC = $(SHARE)/doc/dualcam
# systemd looks for a user's units in lib of the system's prefixes, but in share of ~/.local.
UNITS = $(DESTDIR)$(PREFIX)/$(if $(filter $(HOME)/%,$(PREFIX)),share,lib)/systemd/user
BUS = $(SHARE)/dbus-1
INTERFACES = $(wildcard dbus/*.xml)
LICENSES = $(wildcard .build/checkouts/*/LICENSE*)

.DEFAULT_GOAL = build
.PHONY: help deps build run test vm-test soak bench profile install uninstall format lint clean

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages that are missing
	@tools/deps build run test bench browser vm

build: ## build a release
	@tools/deps build
	@tools/toolchain
	swift build -c release --static-swift-stdlib

run: ## build, start the daemon, read its stream back, print the status; ONCE=1 ends there
	@tools/deps build run
	@tools/toolchain
	swift build -c release --static-swift-stdlib
	@ONCE="$(ONCE)" tools/run

test: ## run every test
	@tools/deps build run test bench browser vm
	@tools/toolchain
	@tools/test

vm-test: ## run the tests in the virtual machine alone
	@tools/deps build run vm
	@tools/toolchain
	Tests/VM/rig/setup.sh
	swift test --filter '^VMTests\.'

soak: ## everything at once and in no order: MINUTES=1, SEED=
	@tools/deps build run test
	@tools/toolchain
	swift build --build-tests
	DUALCAM_SOAK_MINUTES=$(MINUTES) DUALCAM_SOAK_SEED=$(SEED) swift test --skip-build --filter SoakTests

bench: ## measure beside GStreamer and ffmpeg; QUICK=1 for what the tests hold to limits
	@tools/deps build run bench
	@tools/toolchain
	swift build -c release --static-swift-stdlib
	@.build/release/bench $(if $(QUICK),--quick)

profile: ## say where the daemon's time goes, stage by stage
	@tools/deps build run bench profile
	@tools/toolchain
	swift build -c release --static-swift-stdlib
	@.build/release/bench --profile

install: ## install what was built: PREFIX=/usr/local DESTDIR=
	@test -x $(BIN_DIR)/dualcamd -a -x $(BIN_DIR)/dualcamctl || { echo "make install: run make first" >&2; exit 1; }
	install -D -t $(BIN) $(BIN_DIR)/dualcamd $(BIN_DIR)/dualcamctl
	install -d $(UNITS) $(BUS)/services
	sed 's|/usr/bin/|$(PREFIX)/bin/|' systemd/dualcamd.service >$(UNITS)/dualcamd.service
	sed 's|/usr/bin/|$(PREFIX)/bin/|' dbus/org.dualcam.DualCam1.service >$(BUS)/services/org.dualcam.DualCam1.service
	install -D -m 644 -t $(BUS)/interfaces $(INTERFACES)
	install -D -m 644 -t $(DOC) LICENSE docs/dualcam.toml
	$(foreach file,$(LICENSES),install -D -m 644 $(file) $(DOC)/licenses/$(notdir $(patsubst %/,%,$(dir $(file)))) &&) true
	@test -n "$(DESTDIR)" || echo "now, as the user: systemctl --user daemon-reload; systemctl --user enable --now dualcamd"

uninstall: ## remove what was installed
	rm -f $(BIN)/dualcamd $(BIN)/dualcamctl $(UNITS)/dualcamd.service
	rm -f $(BUS)/services/org.dualcam.DualCam1.service $(INTERFACES:dbus/%=$(BUS)/interfaces/%)
	rm -rf $(DOC)

format: ## format the sources
	swift format -i -r Sources Tests Package.swift

lint: ## check format, doc comments and scripts
	@tools/lint

clean: ## remove what was built
	rm -rf .build
