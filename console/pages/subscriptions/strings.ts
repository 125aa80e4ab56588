export const text = { title: "Subscriptions" } as const;
