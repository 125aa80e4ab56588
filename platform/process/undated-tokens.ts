/** The text with its signed tokens (JWT) replaced by what they say but for when they were signed, which makes them unlike each time. */
export function undatedTokens(text: string): string {
  return text.replaceAll(/eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+/g, (_token, claims: string) =>
    JSON.stringify(JSON.parse(Buffer.from(claims, "base64url").toString()), (key, value: unknown) =>
      key === "iat" || key === "jti" ? undefined : value,
    ),
  );
}
