# syntax=docker/dockerfile:1
# One target a service: docker build --target api|upload-worker|janitor|migrate.
#
# The bases are pinned by tag. Digests pin harder: where this was written no image registry could be asked for them, so fill
# them in with `docker buildx imagetools inspect IMAGE` and let your update bot keep them.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim
# libc, libstdc++, CA certificates, and nothing to run: no shell, no package manager.
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${NODE_IMAGE} AS node

# What it builds is the same for every architecture, so that it runs on that of the building machine, without emulation.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
ENV CI=true
# Only what the installation depends on: this layer stays as long as no dependency changes.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .pnpmfile.cjs .npmrc ./
COPY patches patches
RUN npm install --global pnpm@12.21.0 && pnpm fetch
COPY . .
RUN pnpm install --frozen-lockfile --offline && infra/container/build-services /out

FROM ${RUNTIME_IMAGE} AS runtime
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY infra/container/healthcheck.mjs /app/healthcheck.mjs
COPY infra/container/certificates /app/certificates
WORKDIR /app
# METRICS_HOST: another container scrapes it. The api's own address is set by its target.
ENV NODE_ENV=production METRICS_HOST=0.0.0.0
# `nonroot`, by number, so that Kubernetes can tell that it isn't root.
USER 65532:65532
# Exec form: node is process 1 and gets SIGTERM itself. It stops within 10 s.
STOPSIGNAL SIGTERM
# The entry is the command: who runs a container replaces that alone, e.g. by `dist/token-main.js NAME` in the api's image.
ENTRYPOINT ["/usr/local/bin/node"]
CMD ["dist/main.js"]

FROM runtime AS api
# MALLOC_MMAP_THRESHOLD_: malloc gives a buffer of 1 MiB or more back to the system when the buffer is freed. By default it stops
# doing so after the first one, and an api that has received large bodies keeps 160 MiB.
ENV API_HOST=0.0.0.0 MALLOC_MMAP_THRESHOLD_=1048576
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/usr/local/bin/node", "/app/healthcheck.mjs", "9464"]
COPY --from=build /out/api /app

FROM runtime AS upload-worker
EXPOSE 9465
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/usr/local/bin/node", "/app/healthcheck.mjs", "9465"]
COPY --from=build /out/upload-worker /app

FROM runtime AS janitor
EXPOSE 9466
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/usr/local/bin/node", "/app/healthcheck.mjs", "9466"]
COPY --from=build /out/janitor /app

# Ends by itself: nothing to be healthy for.
FROM runtime AS migrate
HEALTHCHECK NONE
CMD ["dist/migrate-main.js"]
COPY --from=build /out/postgres /app
