# One image of every role: HOOKRAIL_ROLES says which of them a container runs. Its Node is the one of the lock file. To pin
# the image itself, add what this prints to both lines FROM, as node:24.21.0-bookworm-slim@sha256:…
#   docker buildx imagetools inspect node:24.21.0-bookworm-slim --format '{{.Manifest.Digest}}'
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Nothing is compiled: the packages bring their binaries. The image has its Node, so the copy of the lock file goes;
# --omit=optional would remove binaries of other packages with it.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node
COPY openapi.yaml ./
COPY bin ./bin
COPY client ./client
COPY console ./console
COPY docs/operate/README.md ./docs/operate/README.md
COPY docs/receivers ./docs/receivers
COPY schemas ./schemas
COPY services ./services
COPY simulator ./simulator
RUN npm run build

FROM node:24.21.0-bookworm-slim
# All interfaces of the container; which of them anyone reaches is decided by what is published.
ENV NODE_ENV=production \
  HOOKRAIL_API_HOST=0.0.0.0 \
  HOOKRAIL_OPS_HOST=0.0.0.0 \
  HOOKRAIL_DATA_DIR=/var/lib/hookrail/data \
  HOOKRAIL_KEYRING=/var/lib/hookrail/keys/keyring.json
WORKDIR /app
# A new volume takes the owner of the folder it covers.
RUN install -d -o node -g node -m 700 /var/lib/hookrail/data /var/lib/hookrail/keys /var/lib/hookrail/authority /var/lib/hookrail/trust
# Read by PostgreSQL's user, too, in the containers that mount them.
RUN install -d -o node -g node -m 755 /var/lib/hookrail/passwords/admin /var/lib/hookrail/passwords/owner /var/lib/hookrail/passwords/running
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
# The tools: docker compose exec api hookrail operator …
RUN ln -s /app/bin/hookrail.mjs /usr/local/bin/hookrail
USER node
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HOOKRAIL_OPS_PORT ?? 8081}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/services/main.js"]
