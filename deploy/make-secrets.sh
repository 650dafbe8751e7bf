#!/bin/sh
# Makes everything secret that docker-compose.yml needs, in deploy/secrets: passwords, the key ring, the key that signs
# tokens, and three tokens. Nothing that is there is overwritten. Needs openssl.
#
#   deploy/make-secrets.sh           all of it
#   deploy/make-secrets.sh tokens    all tokens anew, for another 90 days
set -eu
umask 077

root="$(cd "$(dirname "$0")/.." && pwd)"
secrets="${SECRETS_DIR:-$root/deploy/secrets}"
environment="${COMPOSE_ENV_FILE:-$root/.env}"
issuer=credit-journey-compose
token_days=90

write() { # file; its content comes from standard input
  # noclobber: a file that is there is kept, also where somebody else makes it in this very moment.
  (set -C && cat >"$secrets/$1")
}

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

password() { # file
  openssl rand -hex 24 | write "$1"
}

ledger_url() { # role, file
  printf 'postgres://%s:%s@postgres:5432/ledger\n' "$1" "$(cat "$secrets/$1_db_password")" | write "$2"
}

key() { # use
  printf '    {\n      "id": "%s-%s",\n      "use": "%s",\n      "createdAt": "%s",\n      "status": "current",\n      "secret": "%s"\n    }' \
    "$1" "$(openssl rand -hex 6)" "$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(openssl rand -base64 32)"
}

key_ring() {
  printf '{\n  "version": 1,\n  "keys": [\n%s,\n%s\n  ]\n}\n' "$(key payload)" "$(key ledger)" | write keys/keys.json
}

signing_key() {
  openssl genrsa 2048 2>/dev/null | write token_signing_key
  # An RSA public key of 2048 bits is 294 bytes of DER: 33 before the modulus, 256 of it, 5 with the exponent 65537.
  modulus="$(openssl rsa -in "$secrets/token_signing_key" -pubout -outform DER 2>/dev/null | tail -c 261 | head -c 256 | base64url)"
  printf '{"keys":[{"kty":"RSA","kid":"compose","use":"sig","alg":"RS256","n":"%s","e":"AQAB"}]}\n' "$modulus" | write codec_jwks
}

token() { # subject, audience, further claims
  now="$(date +%s)"
  header="$(printf '{"alg":"RS256","kid":"compose","typ":"JWT"}' | base64url)"
  claims="$(printf '{"iss":"%s","aud":"%s","sub":"%s","iat":%d,"exp":%d,%s}' \
    "$issuer" "$2" "$1" "$now" "$((now + token_days * 86400))" "$3" | base64url)"
  signature="$(printf %s "$header.$claims" | openssl dgst -sha256 -sign "$secrets/token_signing_key" -binary | base64url)"
  printf %s "$header.$claims.$signature"
}

codec_token() { # subject, permissions
  token "$1" codec-server "\"permissions\":\"$2\""
}

tokens() {
  printf 'proxy_set_header Authorization "Bearer %s";\n' "$(codec_token ui 'default:encode default:decode-redacted')" |
    write ui_authorization
  codec_token platform 'default:encode default:decode default:report' | write platform_token
  # An origination platform's: it starts, drives and reads, and decides about no hold.
  scopes='journeys:start journeys:read journeys:advance journeys:withdraw pulls:start pulls:read pulls:withdraw'
  scopes="$scopes shares:request shares:withdraw shares:read consents:record holds:read inquiries:read reports:read"
  token platform credit-journey-api "\"scope\":\"$scopes\",\"profiles\":\"*\",\"end_users\":\"*\"" | write api_token
}

own() {
  # Containers read the files as whoever made them; root's own are given to the image's user.
  if [ "$(id -u)" = 0 ]; then chown -R 1000:1000 "$secrets"; fi
}

if [ "${1:-}" = tokens ]; then
  if [ ! -s "$secrets/token_signing_key" ]; then
    echo "there is no $secrets/token_signing_key: run $0 first" >&2
    exit 1
  fi
  rm -f "$secrets/ui_authorization" "$secrets/platform_token" "$secrets/api_token"
  tokens
  own
  echo "made all tokens anew: restart the web service, docker compose restart web"
  exit
fi

for there in "$secrets" "$environment"; do
  if [ -e "$there" ]; then
    echo "$there is there already, and is left as it is" >&2
    exit 1
  fi
done
mkdir -p "$secrets/keys"
for user in postgres temporal_db grafana ledger_db ledger_worker_db ledger_api_db ledger_codec_db; do
  password "${user}_password"
done
ledger_url ledger owner_ledger_url
ledger_url ledger_worker ledger_url
ledger_url ledger_api api_ledger_url
ledger_url ledger_codec codec_ledger_url
key_ring
signing_key
openssl rand -hex 16 | tr -d '\n' | write oauth2_cookie_secret
# Your sign-on provider has the true one: put it here for 'docker compose --profile page up'.
printf 'not-set' | write oidc_client_secret
tokens
own
owner="$(id -u)"
group="$(id -g)"
if [ "$owner" = 0 ]; then owner=1000 group=1000; fi
# Who may read the secrets, for docker compose.
printf 'SECRETS_UID=%s\nSECRETS_GID=%s\n' "$owner" "$group" >"$environment"
echo "made $secrets and $environment"
echo "Keep a copy of $secrets/keys/keys.json where the backups are not: what the ledger seals cannot be read without it."
