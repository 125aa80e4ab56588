export const text = {
  title: "Sign in",
  key: "API key",
  hint: "`npm start` prints where your first key is. Other keys are made in the profile, or with hw keys create.",
  action: "Sign in",
  failed: "Signing in failed",
  checking: "Signing in…",
} as const;
