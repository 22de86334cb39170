# syntax=docker/dockerfile:1
# The code image: code server, runs and steps. Build from the root of the checkout:
#   docker build -f k8s/images/code.Dockerfile -t registry.example.org/starling/code:0.1.0 .
FROM python:3.12-slim AS build
COPY --from=ghcr.io/astral-sh/uv:0.9 /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/opt/starling/.venv
WORKDIR /opt/starling
# Dependencies first: this layer changes only with the lock file.
COPY pyproject.toml uv.lock README.md LICENSE ./
RUN uv sync --frozen --no-install-project --extra clickhouse --extra milvus
# The run storage of the Helm chart is PostgreSQL; its version follows the locked dagster.
RUN uv pip install --python .venv/bin/python \
    "dagster-postgres==0.29.$(.venv/bin/python -c 'import dagster; print(dagster.__version__.split(".")[2])')"
COPY starling_assets starling_assets
COPY resources resources
COPY sensors sensors
COPY dbt dbt
COPY examples examples
# Installed in place and not as a wheel: the dbt project and the bundled vocabularies lie beside the packages.
RUN uv sync --frozen --inexact --extra clickhouse --extra milvus
# The dbt manifest is made here, so that the root file system may be read-only later.
RUN DBT_SEND_ANONYMOUS_USAGE_STATS=false .venv/bin/dbt --no-version-check parse \
    --project-dir dbt --profiles-dir dbt --log-path /tmp/dbt-logs

FROM python:3.12-slim
# Java turns chemical names into structures (OPSIN); without it names are only looked up. Tesseract reads scanned pages.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends default-jre-headless tesseract-ocr tini \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 1000 starling \
    && useradd --uid 1000 --gid 1000 --create-home starling \
    && install -d -o starling -g starling /opt/dagster/dagster_home /var/starling /var/starling-inbox
COPY --from=build --chown=1000:1000 /opt/starling /opt/starling
WORKDIR /opt/starling
ENV PATH=/opt/starling/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DBT_SEND_ANONYMOUS_USAGE_STATS=false \
    DO_NOT_TRACK=1
USER 1000:1000
ENTRYPOINT ["tini", "--"]
