# syntax=docker/dockerfile:1
# Worker, API, codec server, command line and sandbox in one image: docs/deploy.md

# A tag may be moved, a digest may not. Both change with the Node of package.json: docs/deploy.md.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package's own script is needed, and none runs.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/api-types.ts scripts/build.ts scripts/build-page.ts scripts/pack-client.ts scripts/
COPY schemas schemas
COPY page page
COPY src src
COPY sandbox sandbox
RUN npm run build

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts
COPY scripts/prune-platforms.ts scripts/
# Of this platform alone; more than 250 MB end the build. Then what is installed, for scanners: npm would miss the development
# packages, and from the lock file it leaves out whatever these need, too.
RUN node scripts/prune-platforms.ts node_modules 250 && \
    npm pkg delete devDependencies && \
    npm sbom --omit=dev --sbom-format=cyclonedx > sbom.cdx.json

FROM ${NODE_IMAGE}
# What the sandbox and a local ledger may write to; the rest of the image is never written to.
RUN install -d -o node -g node -m 0700 /var/lib/credit-journey
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=packages /app/sbom.cdx.json sbom.cdx.json
COPY --from=build /app/dist dist
COPY bin bin
COPY deploy/health-check.js deploy/follow-key-ring.sh deploy/
COPY package.json ./
# Which version this is (docs/versioning.md). Workers stay unversioned where no deployment is named.
ARG BUILD_ID=""
ARG DEPLOYMENT_NAME=""
# Which commit it was built of, and on which base.
ARG REVISION=""
ARG NODE_IMAGE
LABEL org.opencontainers.image.title="credit-journey" \
    org.opencontainers.image.description="The credit-report side of a loan, run durably on Temporal" \
    org.opencontainers.image.version="${BUILD_ID}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.base.name="${NODE_IMAGE}"
# With an arena for each thread glibc keeps what the SDK's threads have freed (docs/configuration.md).
ENV BUILD_ID=${BUILD_ID} \
    DEPLOYMENT_NAME=${DEPLOYMENT_NAME} \
    HEALTH_ADDRESS=127.0.0.1:9465 \
    MALLOC_ARENA_MAX=2 \
    NODE_ENV=production
# A number: Kubernetes must see that it is not root.
USER 1000:1000
# Of the worker; other commands listen elsewhere, and say so where they are run.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["node", "/app/deploy/health-check.js", "http://127.0.0.1:9465/healthz"]
ENTRYPOINT ["node", "/app/bin/credit-journey.js"]
CMD ["worker"]
