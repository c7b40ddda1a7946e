# The task pages' script and style sheet.
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS frontend

WORKDIR /frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend/vite.config.ts frontend/tsconfig.json ./
COPY frontend/src ./src
RUN npm run build

FROM python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

RUN useradd --system --uid 10001 --create-home --home-dir /home/chainbox chainbox \
    && install -d -o chainbox -g chainbox /var/lib/chainbox

WORKDIR /app
# The lock first: a change of code then rebuilds only the last layer.
COPY requirements.lock requirements-torch.lock ./
RUN pip install --require-hashes --no-deps -r requirements.lock \
    && pip install -r requirements-torch.lock \
    && pip check
COPY manage.py ./
COPY common ./common
COPY config ./config
COPY annotation ./annotation
COPY grounding ./grounding
COPY marketplace ./marketplace
COPY --from=frontend /frontend/dist ./frontend/dist

ENV CHAINBOX_MODE=production CHAINBOX_VAR=/var/lib/chainbox HOST=0.0.0.0
VOLUME /var/lib/chainbox
USER chainbox
EXPOSE 8000
CMD ["python", "-m", "config.server"]
