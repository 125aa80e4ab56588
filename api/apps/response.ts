import type { FoundApp } from "../../crds/app-library.ts";
import { fieldsOf, isConnectable, knownAuthTypes, type App } from "../../domain/app/app.ts";
import type { Answered } from "../http/response/answered.ts";
import { idOfApp } from "./library.ts";
import type { appSchema } from "./schemas.ts";

export function appResponse(app: FoundApp, hasClient: boolean): Answered<typeof appSchema> {
  const { slug, name, description, auth, categories, documentationUrl, origin } = app;
  return {
    id: idOfApp(app),
    name_slug: slug,
    name,
    description: description ?? null,
    auth_type: knownAuthTypes[auth],
    kind: auth,
    custom_fields_json: JSON.stringify(fieldsOf(app)),
    categories: [...categories],
    documentation_url: documentationUrl ?? null,
    oauth: oauthResponse(app),
    origin,
    connectable: isConnectable(app),
    has_client: hasClient,
  };
}

function oauthResponse({ oauth, test }: App): Answered<typeof appSchema>["oauth"] {
  if (oauth === undefined) return null;
  return {
    grant: oauth.grant ?? "authorization_code",
    authorization_url: oauth.authorizationUrl ?? null,
    token_url: oauth.tokenUrl,
    refresh_url: oauth.refreshUrl ?? null,
    revocation_url: oauth.revocationUrl ?? null,
    issuer: oauth.issuer ?? null,
    pkce: oauth.pkce ?? true,
    scopes: [...(oauth.scopes ?? [])],
    scope_parameter: oauth.scopeParameter ?? "scope",
    scope_separator: oauth.scopeSeparator ?? " ",
    authorization_params: { ...oauth.authorizationParameters },
    client_authentication: oauth.clientAuthentication ?? "basic",
    request_format: oauth.requestFormat ?? "form",
    token_params: { ...oauth.tokenParameters },
    token_path: oauth.tokenPath ?? null,
    void_grant_errors: [...(oauth.voidGrantErrors ?? [])],
    token_fields: [...(oauth.tokenFields ?? [])],
    test_url: test?.url ?? null,
    test_name: test?.name ?? null,
    test_picture: test?.picture ?? null,
  };
}
