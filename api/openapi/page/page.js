/* global SwaggerUIBundle */
// The key that a reader enters stays in the memory of this page: persistAuthorization is off by default.
SwaggerUIBundle({
  url: "/v1/openapi.json",
  dom_id: "#operations",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  tryItOutEnabled: true,
  // By default Swagger UI sends the document's address to validator.swagger.io.
  validatorUrl: null,
});
