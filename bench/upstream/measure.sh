#!/bin/sh
# Counts the instructions of a page and a command with the published reqwest, and with the changes that README.md
# proposes. Run it by hand. It builds the benchmarks twice in release mode, takes a few minutes, and needs valgrind.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
copy=$target/upstream/reqwest
lock=$target/upstream/Cargo.lock

manifest=$(cargo metadata --locked --format-version 1 | grep -o '"manifest_path":"[^"]*/reqwest-0\.13[^"]*"' | head -1 | cut -d'"' -f4)
rm -rf "$copy"
mkdir -p "$target/upstream"
cp -R "$(dirname "$manifest")" "$copy"
chmod -R u+w "$copy"

# edit <file> <anchor in the file> <expression of sed>
edit() {
    grep -qF -- "$2" "$copy/src/$1" || { echo "$1 has no line with: $2" >&2; exit 1; }
    sed -i "$3" "$copy/src/$1"
}

# 1. Without an earlier URL, there is nothing to compare the next URL with.
anchor='if let Ok(next_url) = Url::parse(&req.uri().to_string()) {'
edit redirect.rs "$anchor" "s|^ *$anchor|if self.urls.is_empty() { return; }\n&|"

# 2. The URL of the response equals the URL of the request, character by character.
anchor='.get::<tower_http::follow_redirect::RequestUri>()'
edit async_impl/client.rs "$anchor" "s|^ *$anchor|&.filter(\|it\| !is_written_as(\&it.0, self.url.as_str()))|"
cat >>"$copy/src/async_impl/client.rs" <<'RUST'

fn is_written_as(uri: &Uri, url: &str) -> bool {
    struct Rest<'a>(&'a str);
    impl fmt::Write for Rest<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
            Ok(())
        }
    }
    let mut rest = Rest(url);
    fmt::Write::write_fmt(&mut rest, format_args!("{uri}")).is_ok() && rest.0.is_empty()
}
RUST

# 3. Nothing reads the second copy of the headers.
anchor='*req.headers_mut() = headers.clone();'
edit async_impl/client.rs "$anchor" 's|\*req.headers_mut() = headers.clone();|*req.headers_mut() = std::mem::take(\&mut headers);|'

# Cargo would write the patch into Cargo.lock.
cp Cargo.lock "$lock"
trap 'cp "$lock" Cargo.lock' EXIT
for config in 'net.retry=2' "patch.crates-io.reqwest.path='$copy'"; do
    echo "with $config:"
    cargo build --quiet --release --no-default-features --config "$config"
    "$target/release/suite-bench" observer 2>/dev/null | grep -E 'instructions|no observer'
done
