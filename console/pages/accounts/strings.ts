export const text = { title: "Accounts" } as const;
