# Debian and not Alpine: the kernel file lock has no binary for musl.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# For SQLite, snapshots and file locks; with PostgreSQL nothing is written here.
RUN mkdir /app/data && chown node:node /app/data
VOLUME /app/data
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["node", "dist/holdfast.js", "health", "--quiet"]
# No shell in between: SIGTERM reaches the server, which lets its requests finish.
ENTRYPOINT ["node", "dist/holdfast.js"]
CMD ["serve"]
