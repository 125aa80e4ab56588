/** Mixed into an app so that a `sql` prop can run its query: the app says how, by `executeQuery` and `getSchema`. */
export const sqlProp = {
  methods: {
    getSchema(): unknown {
      throw new Error("getSchema is not implemented by this app");
    },
    executeQuery(_query: unknown): unknown {
      throw new Error("executeQuery is not implemented by this app");
    },
  },
};

/** Mixed into an app to reach a database through a proxy; without one, queries go to the app's own client. */
export const sqlProxy = {
  methods: {
    getClientConfiguration(): unknown {
      throw new Error("getClientConfiguration is not implemented by this app");
    },
    proxyAdapter(query: unknown): unknown {
      return query;
    },
  },
};
