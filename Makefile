# DualCam's commands; `make help` lists them. Everything longer than a line is in tools/.

PREFIX = /usr/local
DESTDIR =
# How long `make soak` takes.
MINUTES = 1
# How much `make window-soak` does.
STEPS = 10000
# Where the built binaries are.
BIN_DIR = .build/release

BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
DOC = $(SHARE)/doc/dualcam
# systemd looks for a user's units in lib of the system's prefixes, but in share of ~/.local.
UNITS = $(DESTDIR)$(PREFIX)/$(if $(filter $(HOME)/%,$(PREFIX)),share,lib)/systemd/user
BUS = $(SHARE)/dbus-1
# Where a shell looks for what completes a command's words; Debian's zsh has a place for packages
# alone.
BASH = $(SHARE)/bash-completion/completions
ZSH = $(SHARE)/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
FISH = $(SHARE)/fish/vendor_completions.d
MAN = $(SHARE)/man
ICONS = $(SHARE)/icons/hicolor
# The window, if it was built.
VIEW = $(wildcard $(BIN_DIR)/dualcam-view)
# What is made of what was built.
GENERATED = $(BIN_DIR)/generated
PAGES = dualcamctl.1 dualcamd.8 dualcam.toml.5 org.dualcam.DualCam1.5
# Only there does the daemon look for the system's configuration; not for a user's own installation.
ETC = $(if $(filter $(HOME)/%,$(PREFIX)),,$(DESTDIR)/etc/dualcam)
INTERFACES = $(wildcard dbus/*.xml)
CATALOGUES = $(wildcard po/*.po)
LICENSES = $(wildcard .build/checkouts/*/LICENSE* vendor/*/LICENSE*)

.DEFAULT_GOAL = build
.PHONY: help deps build view documents run test releases vm-test soak window-soak fuzz bench profile pictures window-pictures deb dist release install install-view uninstall format lint clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages that are missing
	@tools/deps build view run test bench browser vm deb

build: ## build a release
	@tools/deps build
	@tools/toolchain
	@tools/build dualcamd dualcamctl
	@$(MAKE) --no-print-directory documents

view: ## build a release of the window, which needs GTK
	@tools/deps build view
	@tools/toolchain
	@tools/build dualcam-view

documents: $(GENERATED)/made ## make manual pages, completions and catalogues for what was built

$(GENERATED)/made: $(BIN_DIR)/dualcamd $(BIN_DIR)/dualcamctl tools/manual tools/catalogue NEWS.md docs/dualcam.toml $(INTERFACES) $(CATALOGUES)
	@rm -rf $(GENERATED)
	@tools/manual $(BIN_DIR) $(GENERATED)
	@sed 's/^[a-z]/#&/' docs/dualcam.toml >$(GENERATED)/dualcam.toml
	@for shell in bash zsh fish; do $(BIN_DIR)/dualcamctl completions $$shell >$(GENERATED)/dualcamctl.$$shell || exit 1; done
	@for file in $(CATALOGUES); do tools/catalogue $$file $(GENERATED)/locale || exit 1; done
	@touch $@

$(BIN_DIR)/dualcamd $(BIN_DIR)/dualcamctl:
	@echo "make: there is no $@: run make first" >&2; exit 1

run: ## build DualCam, start it and show that it works; ONCE=1 stops it then
	@tools/deps build run
	@tools/toolchain
	@tools/build dualcamd dualcamctl
	@$(MAKE) --no-print-directory documents
	@ONCE="$(ONCE)" tools/run

test: ## build and run every test; WITHOUT=vm skips the virtual machine, DEBUG=1 tests debug programs
	@tools/deps build view run test bench browser $(if $(filter vm,$(WITHOUT)),,vm) deb
	@tools/toolchain
	@WITHOUT="$(WITHOUT)" DEBUG="$(DEBUG)" ROWS="$(ROWS)" tools/test

releases: ## build and test, the archive too, on minimal Debian 12, 13 and testing, or only RELEASES="trixie"
	@DIST=1 FULL="$(FULL)" tools/releases $(RELEASES)

vm-test: ## run only the tests in the virtual machine
	@tools/deps build view run vm deb
	@tools/toolchain
	Tests/VM/rig/setup.sh
	@tools/build
	swift test -c release --skip-build --filter '^VMTests\.'

soak: ## do everything at once, in random order: MINUTES=1; SEED= repeats a run
	@tools/deps build view run test
	@tools/toolchain
	@tools/build
	DUALCAM_SOAK_MINUTES=$(MINUTES) DUALCAM_SOAK_SEED=$(SEED) swift test -c release --skip-build --filter SoakTests

window-soak: ## click and press keys in the window at random: STEPS=10000; SEED= repeats a run
	@tools/deps build view run test
	@tools/toolchain
	@tools/build
	DUALCAM_WINDOW_STEPS=$(STEPS) DUALCAM_WINDOW_SEED=$(SEED) swift test -c release --skip-build --filter WindowSoakTests

fuzz: ## feed generated input to each parser of untrusted data for a minute, or to TARGETS="photographs"
	@tools/deps build
	@tools/toolchain
	@tools/fuzz 60 $(TARGETS)

bench: ## measure speed, next to GStreamer and ffmpeg; QUICK=1 measures only what the tests limit, BASE=FILE compares with an older bench
	@tools/deps build view run test bench
	@tools/toolchain
	@tools/build dualcamd dualcamctl dualcam-view bench
	@.build/release/bench $(if $(QUICK),--quick) $(if $(BASE),--base $(BASE))

profile: ## show where the daemon's time goes, by thread and library
	@tools/deps build run bench profile
	@tools/toolchain
	@tools/build dualcamd dualcamctl bench
	@.build/release/bench --profile

pictures: build ## take the pictures in docs from the stream itself
	@tools/deps build run
	@tools/pictures

window-pictures: build ## take the pictures in docs of the window, in each of its states
	@tools/deps build view run pictures
	@tools/toolchain
	@tools/build dualcamd dualcamctl dualcam-view
	@tools/window-pictures

deb: ## build Debian packages for this release, and their source package, in .build/deb
	@tools/deps build view deb
	@tools/toolchain
	@tools/deb

dist: ## build an archive that needs no compiler, for any distribution, in .build/dist
	@tools/deps build view dist
	@tools/toolchain
	@tools/dist

release: ## make a version and all that is given away of it, in .build/dualcam-VERSION: VERSION=1.2.3
	@tools/deps build view deb dist release
	@tools/toolchain
	@tools/release $(VERSION)

install: documents ## install what was built: PREFIX=/usr/local DESTDIR=
	install -D -t $(BIN) $(BIN_DIR)/dualcamd $(BIN_DIR)/dualcamctl
	install -d $(UNITS) $(BUS)/services
	sed 's|/usr/bin/|$(PREFIX)/bin/|' systemd/dualcamd.service >$(UNITS)/dualcamd.service
	sed 's|/usr/bin/|$(PREFIX)/bin/|' dbus/org.dualcam.DualCam1.service >$(BUS)/services/org.dualcam.DualCam1.service
	install -D -m 644 -t $(BUS)/interfaces $(INTERFACES)
	$(foreach page,$(PAGES),install -D -m 644 -t $(MAN)/man$(subst .,,$(suffix $(page))) $(GENERATED)/$(page).gz &&) true
	install -D -m 644 $(GENERATED)/dualcamctl.bash $(BASH)/dualcamctl
	install -D -m 644 $(GENERATED)/dualcamctl.zsh $(ZSH)/_dualcamctl
	install -D -m 644 $(GENERATED)/dualcamctl.fish $(FISH)/dualcamctl.fish
	$(if $(ETC),test -e $(ETC)/dualcam.toml || install -D -m 644 -t $(ETC) $(GENERATED)/dualcam.toml)
	$(foreach file,$(CATALOGUES:po/%.po=locale/%/LC_MESSAGES/dualcam.mo),install -D -m 644 $(GENERATED)/$(file) $(SHARE)/$(file) &&) true
	install -D -m 644 -t $(DOC) LICENSE NEWS.md docs/dualcam.toml
	cp -R examples $(DOC)
	install -D -m 644 Sources/C/CKernels/LICENSE.networks $(DOC)/licenses/mediapipe
	$(foreach file,$(LICENSES),install -D -m 644 $(file) $(DOC)/licenses/$(notdir $(patsubst %/,%,$(dir $(file)))) &&) true
	$(if $(VIEW),@$(MAKE) --no-print-directory install-view)
	@test -n "$(DESTDIR)" || echo "now, as the user: systemctl --user daemon-reload; systemctl --user enable --now dualcamd"

install-view: ## install the window, which `make install` does if it was built
	install -D -t $(BIN) $(BIN_DIR)/dualcam-view
	install -d $(BUS)/services $(MAN)/man1
	sed 's|/usr/bin/|$(PREFIX)/bin/|' desktop/org.dualcam.View.service >$(BUS)/services/org.dualcam.View.service
	install -d $(SHARE)/applications
	sed 's|/usr/bin/|$(PREFIX)/bin/|' desktop/org.dualcam.View.desktop >$(SHARE)/applications/org.dualcam.View.desktop
	install -D -m 644 -t $(SHARE)/metainfo desktop/org.dualcam.View.metainfo.xml
	install -D -m 644 -t $(ICONS)/scalable/apps desktop/org.dualcam.View.svg
	install -D -m 644 -t $(ICONS)/symbolic/apps desktop/org.dualcam.View-symbolic.svg
	install -D -m 644 -t $(ICONS)/scalable/actions desktop/icons/hicolor/scalable/actions/*.svg
	tools/manual --view $(BIN_DIR) $(MAN)/man1

uninstall: ## remove what `make install` installed
	rm -f $(BIN)/dualcamd $(BIN)/dualcamctl $(UNITS)/dualcamd.service
	rm -f $(BUS)/services/org.dualcam.DualCam1.service $(INTERFACES:dbus/%=$(BUS)/interfaces/%)
	rm -f $(foreach page,$(PAGES),$(MAN)/man$(subst .,,$(suffix $(page)))/$(page).gz)
	$(if $(ETC),sed 's/^[a-z]/#&/' docs/dualcam.toml | cmp -s - $(ETC)/dualcam.toml && rm $(ETC)/dualcam.toml && rmdir --ignore-fail-on-non-empty $(ETC) || true)
	rm -f $(BASH)/dualcamctl $(ZSH)/_dualcamctl $(FISH)/dualcamctl.fish
	rm -rf $(DOC) $(SHARE)/locale/*/LC_MESSAGES/dualcam.mo
	rm -f $(BIN)/dualcam-view $(MAN)/man1/dualcam-view.1.gz $(BUS)/services/org.dualcam.View.service
	rm -f $(SHARE)/applications/org.dualcam.View.desktop $(SHARE)/metainfo/org.dualcam.View.metainfo.xml
	rm -f $(ICONS)/scalable/actions/dualcam-*-symbolic.svg
	rm -f $(ICONS)/scalable/apps/org.dualcam.View.svg $(ICONS)/symbolic/apps/org.dualcam.View-symbolic.svg

format: ## format the sources
	swift format -i -r Sources Tests Package.swift

lint: ## check the format, doc comments and scripts
	@tools/lint

clean: ## remove what was built
	rm -rf .build
