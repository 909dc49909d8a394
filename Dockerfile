# One image of every role: HOOKRAIL_ROLES says which of them a container runs.
FROM node:20.20.2-bookworm-slim AS build
# better-sqlite3 brings binaries for the usual platforms; elsewhere it is compiled.
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY openapi.yaml ./
COPY bin ./bin
COPY scripts/build.mjs ./scripts/
COPY schemas ./schemas
COPY services ./services
COPY simulator ./simulator
RUN npm run build

FROM node:20.20.2-bookworm-slim
# All interfaces of the container; which of them anyone reaches is decided by what is published.
ENV NODE_ENV=production \
  HOOKRAIL_API_HOST=0.0.0.0 \
  HOOKRAIL_OPS_HOST=0.0.0.0 \
  HOOKRAIL_DATA_DIR=/var/lib/hookrail/data \
  HOOKRAIL_KEYRING=/var/lib/hookrail/keys/keyring.json
WORKDIR /app
# A new volume takes the owner of the folder it covers.
RUN install -d -o node -g node -m 700 /var/lib/hookrail/data /var/lib/hookrail/keys /var/lib/hookrail/authority
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
