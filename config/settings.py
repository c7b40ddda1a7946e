"""All settings, read from the environment. CONTRIBUTING.md lists the variables."""

import os
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from common.clock import CLOCK_TOLERANCE_SECONDS
from common.web.origins import origins_of_hosts, read_origins
from config.private_files import file_private, folder_private
from config.services.broker import prepare_folders
from config.services.database import database_from_url

BASE_DIR = Path(__file__).resolve().parent.parent

DEVELOPMENT_SECRET = "chainbox-development-only-secret-never-for-a-site-others-can-reach"


def flag(name: str, *, default: bool) -> bool:
    """Read a yes/no variable; anything else is an error rather than a silent no."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}.")


def words(name: str) -> list[str]:
    """Read a comma-separated variable."""
    return [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()]


# --- Mode and secrets ------------------------------------------------------------------------

MODE = os.environ.get("CHAINBOX_MODE") or "development"
if MODE not in {"development", "production"}:
    raise ImproperlyConfigured(f"CHAINBOX_MODE must be development or production, not {MODE!r}.")
PRODUCTION = MODE == "production"
# Off by default: it shows source code on error pages, and records every SQL statement, which would
# fill the memory during an import.
DEBUG = flag("CHAINBOX_DEBUG", default=False) and not PRODUCTION

SECRET_KEY = os.environ.get("SECRET_KEY") or DEVELOPMENT_SECRET
ALLOWED_HOSTS = words("ALLOWED_HOSTS") or (
    [] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]"]
)
if not PRODUCTION and not ALLOWED_HOSTS:
    ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
if PRODUCTION:
    if SECRET_KEY == DEVELOPMENT_SECRET:
        raise ImproperlyConfigured(
            "Production mode needs its own SECRET_KEY: set one that is not the development key."
        )
    if len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 5:
        raise ImproperlyConfigured(
            "In production mode SECRET_KEY must have at least 50 characters, 5 of them different."
        )
    if not ALLOWED_HOSTS:
        raise ImproperlyConfigured(
            "Production mode needs ALLOWED_HOSTS, e.g. chainbox.example.org."
        )
    if not os.environ.get("DATABASE_URL"):
        raise ImproperlyConfigured(
            "Production mode needs DATABASE_URL, e.g. postgresql://user:password@host/chainbox."
        )
CSRF_TRUSTED_ORIGINS = words("CSRF_TRUSTED_ORIGINS")

# --- Folders ---------------------------------------------------------------------------------

CHAINBOX_VAR = BASE_DIR / (os.environ.get("CHAINBOX_VAR") or "var")
folder_private(CHAINBOX_VAR)
CHAINBOX_DATA = BASE_DIR / (os.environ.get("CHAINBOX_DATA") or "../shared/data")
MEDIA_ROOT = CHAINBOX_VAR / "media"
# Experiments: releases with their photos, word vectors, extracted features, and results. All
# workers need the same folders.
CHAINBOX_RELEASES = BASE_DIR / (os.environ.get("CHAINBOX_RELEASES") or CHAINBOX_VAR / "releases")
CHAINBOX_VECTORS = BASE_DIR / (os.environ.get("CHAINBOX_VECTORS") or CHAINBOX_VAR / "vectors")
CHAINBOX_FEATURES = BASE_DIR / (os.environ.get("CHAINBOX_FEATURES") or CHAINBOX_VAR / "features")
CHAINBOX_EXPERIMENTS = CHAINBOX_VAR / "experiments"
CHAINBOX_EXPERIMENTS_AT_ONCE = int(os.environ.get("CHAINBOX_EXPERIMENTS_AT_ONCE") or 1)
MEDIA_URL = "/media/"
# Photos have signed addresses that stay valid no longer than this.
CHAINBOX_PHOTO_URL_SECONDS = int(os.environ.get("CHAINBOX_PHOTO_URL_SECONDS") or 7200)
# How much memory decoding one photo may take, so that a hostile photo cannot use it all up.
CHAINBOX_PHOTO_MEGABYTES = int(os.environ.get("CHAINBOX_PHOTO_MEGABYTES") or 190)
STATIC_ROOT = CHAINBOX_VAR / "static"
STATIC_URL = "/static/"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
# The task pages' script and style, as `npm run build` leaves them.
TASK_PAGES_BUILT = BASE_DIR / "frontend" / "dist"
STATICFILES_DIRS = [BASE_DIR / "common" / "static"]
if TASK_PAGES_BUILT.is_dir():
    STATICFILES_DIRS.append(TASK_PAGES_BUILT)
# Outside production nobody runs collectstatic: files are served from where they are written.
WHITENOISE_USE_FINDERS = not PRODUCTION

# --- Applications ----------------------------------------------------------------------------

INSTALLED_APPS = [
    "common.accounts.administration.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    # Before staticfiles, so that the development server also serves through WhiteNoise.
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "common.accounts",
    "annotation",
    "grounding",
    "marketplace",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "common.web.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # After the static files, which may be cached; before everything that reads text.
    "common.web.caching.PrivatePagesMiddleware",
    "common.web.plain_text.PlainTextMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "common.accounts.devices.KnownDeviceMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "config" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "common.redis_service.redis_notice",
            ],
        },
    },
]
STORAGES = {
    "default": {
        "BACKEND": "config.services.file_storage.WholeFileStorage",
        # Photos are named by their content: a file that is replaced is identical or damaged.
        "OPTIONS": {"allow_overwrite": True},
    },
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Database, cache, broker -----------------------------------------------------------------

DATABASES = {
    "default": database_from_url(
        os.environ.get("DATABASE_URL") or f"sqlite:///{CHAINBOX_VAR / 'chainbox.sqlite3'}",
        base=BASE_DIR,
    )
}
if "sqlite3" in DATABASES["default"]["ENGINE"] and DATABASES["default"]["NAME"] != ":memory:":
    file_private(Path(DATABASES["default"]["NAME"]))

REDIS_URL = os.environ.get("REDIS_URL") or ""
# All processes share it: workers record there that they are alive.
CACHES: dict[str, dict[str, Any]] = {
    "default": (
        {"BACKEND": "common.cache.TolerantRedisCache", "LOCATION": REDIS_URL}
        if REDIS_URL
        else {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": CHAINBOX_VAR / "cache",
        }
    )
}

CELERY_TASK_IGNORE_RESULT = True
CELERY_TIMEZONE = "UTC"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE_FILENAME = str(CHAINBOX_VAR / "celerybeat-schedule")
# A task that has not started when the next one is due is dropped. Its worker decides by its own
# clock: without the tolerance, a worker whose clock is fast would drop every periodic task.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    name: {
        "task": task,
        "schedule": seconds,
        "options": {"expires": seconds + CLOCK_TOLERANCE_SECONDS},
    }
    for name, task, seconds in [
        ("marketplace-sweep", "marketplace_sweep", 10),
        ("marketplace-deliver", "marketplace_deliver", 10),
        ("marketplace-dispose", "marketplace_dispose", 60),
        ("crowd-send", "crowd_send", 5),
        ("crowd-look", "crowd_look", 5),
        ("crowd-supply", "crowd_supply", 10),
        ("crowd-sweep", "crowd_sweep", 30),
        ("campaign-estimates", "campaign_estimates", 30),
        ("grounding-work", "grounding_work", 30),
    ]
}
# Workers and the scheduler wait for a broker that is down, no matter how long.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any]
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    # Without these, a Redis that accepts connections and never answers would block everything.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2, "socket_timeout": 5}
else:
    CELERY_BROKER_URL = "chainbox-files://localhost/"
    CELERY_BROKER_TRANSPORT_OPTIONS = prepare_folders(CHAINBOX_VAR / "broker")
    # Remote control broadcasts to every worker, which files cannot do.
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False

# --- Accounts --------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["common.accounts.passwords.ThrottledBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "common.accounts.context_words.ContextWordsValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
# How many of our proxies are in front: that many entries of X-Forwarded-For are trusted.
TRUSTED_PROXIES = int(os.environ.get("CHAINBOX_TRUSTED_PROXIES") or 0)
_BEHIND_PROXY = flag("CHAINBOX_BEHIND_PROXY", default=False)
if TRUSTED_PROXIES < 0:
    raise ImproperlyConfigured("CHAINBOX_TRUSTED_PROXIES must be 0 or more.")
# Otherwise all visitors would seem to have the proxy's address, or clients could make up theirs.
if PRODUCTION and (TRUSTED_PROXIES > 0) != _BEHIND_PROXY:
    raise ImproperlyConfigured(
        "CHAINBOX_BEHIND_PROXY and CHAINBOX_TRUSTED_PROXIES do not agree. Behind a proxy, set the "
        "first to yes and the second to the number of your proxies that add to X-Forwarded-For. "
        "Without a proxy, set them to no and 0."
    )

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
}

# --- Marketplace ------------------------------------------------------------------------------

# The marketplace's fee on every reward and bonus; none by default.
MARKETPLACE_FEE_PERCENT = int(os.environ.get("MARKETPLACE_FEE_PERCENT") or 0)
# Whether anybody may sign up as a worker, or only invited people.
MARKETPLACE_OPEN_SIGN_UP = flag("MARKETPLACE_OPEN_SIGN_UP", default=not PRODUCTION)
# Whether notifications may go to addresses on this machine and its networks. Not on a site that
# others can reach: a requester could make the server call services that only it can reach.
MARKETPLACE_PRIVATE_WEBHOOKS = flag("MARKETPLACE_PRIVATE_WEBHOOKS", default=not PRODUCTION)
# Where requesters reach the marketplace's API: their endpoint_url.
MARKETPLACE_URL = (
    os.environ.get("MARKETPLACE_URL")
    or f"http://localhost:{os.environ.get('PORT') or 8000}/marketplace/api"
)

# --- Task pages --------------------------------------------------------------------------------

_PORT = os.environ.get("PORT") or 8000
# The origins that may show task pages in a frame and receive their forms.
CHAINBOX_MARKETPLACE_ORIGINS = read_origins(
    "CHAINBOX_MARKETPLACE_ORIGINS",
    words("CHAINBOX_MARKETPLACE_ORIGINS")
    or (
        origins_of_hosts(ALLOWED_HOSTS)
        if PRODUCTION
        else [f"http://localhost:{_PORT}", f"http://127.0.0.1:{_PORT}"]
    ),
)
# Where workers' browsers reach the task pages: addresses in HITs begin with it.
_TASK_URLS = (
    [os.environ["CHAINBOX_TASK_URL"]]
    if os.environ.get("CHAINBOX_TASK_URL")
    else (origins_of_hosts(ALLOWED_HOSTS) if PRODUCTION else [f"http://localhost:{_PORT}"])
)
CHAINBOX_TASK_URL = next(iter(read_origins("CHAINBOX_TASK_URL", _TASK_URLS)), "")

# --- The crowd ---------------------------------------------------------------------------------

# The marketplace that HITs are published on, as boto3 reaches it, and our access key there.
# Without a key nothing is published or sent.
CHAINBOX_CROWD_ENDPOINT = os.environ.get("CHAINBOX_CROWD_ENDPOINT") or MARKETPLACE_URL
CHAINBOX_CROWD_KEY_ID = os.environ.get("CHAINBOX_CROWD_KEY_ID") or ""
CHAINBOX_CROWD_SECRET = os.environ.get("CHAINBOX_CROWD_SECRET") or ""
CHAINBOX_CROWD_REGION = os.environ.get("CHAINBOX_CROWD_REGION") or "us-east-1"
# Where workers are invited: a key of annotation/crowd/recruiters/registry.py.
CHAINBOX_RECRUITER = os.environ.get("CHAINBOX_RECRUITER") or "marketplace"
# Whether that marketplace adds a signed claim of acceptance to the address of every task page, as
# ours does. "required": a page without a valid claim is refused. "none": the marketplace has no
# such claims; then what an unproven page stores is kept short and small.
CHAINBOX_CROWD_PROOF = os.environ.get("CHAINBOX_CROWD_PROOF") or "required"
if CHAINBOX_CROWD_PROOF not in ("required", "none"):
    raise ImproperlyConfigured(
        f"CHAINBOX_CROWD_PROOF must be required or none, not {CHAINBOX_CROWD_PROOF!r}."
    )
# Where the marketplace sends its notifications, and the secret it signs them with. Without them
# the site polls, and learns everything a little later.
CHAINBOX_CROWD_WEBHOOK = os.environ.get("CHAINBOX_CROWD_WEBHOOK") or ""
CHAINBOX_CROWD_WEBHOOK_SECRET = os.environ.get("CHAINBOX_CROWD_WEBHOOK_SECRET") or ""

# --- Security --------------------------------------------------------------------------------

SESSION_COOKIE_HTTPONLY = True
# One week from signing in, active or not: see docs/security.md.
SESSION_COOKIE_AGE = 7 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if PRODUCTION:
    SECURE_SSL_REDIRECT = flag("CHAINBOX_SSL_REDIRECT", default=True)
    # Health checks come from inside, over plain HTTP.
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
    SECURE_HSTS_SECONDS = int(os.environ.get("CHAINBOX_HSTS_SECONDS") or 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = flag("CHAINBOX_HSTS_SUBDOMAINS", default=False)
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    # Browsers accept cookies with such names only from this host, over HTTPS.
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
    # Only behind a proxy that always sets or strips this header; otherwise a client could forge it.
    if _BEHIND_PROXY:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# The largest form is an answer of a HIT: 2,000,000 bytes. A guide may have 256 KB, which a browser
# sends as three times that if every character is escaped.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
# No form takes files. Without this, any page that reads a form would first write them to disk.
DATA_UPLOAD_MAX_NUMBER_FILES = 100
FILE_UPLOAD_HANDLERS = ["common.web.uploads.SkippingHandler"]

# --- Language, time, logs --------------------------------------------------------------------

LANGUAGE_CODE = "en-gb"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "config.logs.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": os.environ.get("CHAINBOX_LOG_LEVEL") or "INFO"},
    # Django's own console handler is for DEBUG only; one handler at the root serves both modes.
    "loggers": {"django": {"handlers": [], "level": "INFO"}},
}
