# The task pages' script and style sheet.
FROM node:24-bookworm-slim AS frontend

WORKDIR /frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend/vite.config.ts frontend/tsconfig.json ./
COPY frontend/src ./src
RUN npm run build

FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

RUN useradd --system --uid 10001 --create-home --home-dir /home/chainbox chainbox \
    && install -d -o chainbox -g chainbox /var/lib/chainbox

WORKDIR /app
# The lock first: a change of code then rebuilds only the last layer.
COPY requirements.lock ./
RUN pip install -r requirements.lock
COPY manage.py ./
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
