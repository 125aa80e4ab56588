import { containing, like, type Service } from "../contract.ts";
import { basicAuth, s3 } from "../families.ts";

/** Installations of WordPress and WooCommerce, and stores like S3. */
const shop = "https://shop.example.com/wp-json/wc/v3";
const order = { id: 7, status: "processing", total: "24.00" };
const woocommerce: Service = {
  piece: "woocommerce@0.4.0",
  family: basicAuth("ck_example", "cs_example"),
  auth: { baseUrl: "https://shop.example.com", consumerKey: "ck_example", consumerSecret: "cs_example" },
  cases: [
    { action: "get_order", props: { id: "7" }, exchanges: [{ request: `GET ${shop}/orders/7`, json: order }], returns: order },
    {
      action: "create_order",
      props: { line_items: [{ product_id: 3, quantity: 2 }], status: "pending" },
      exchanges: [
        {
          request: `POST ${shop}/orders`,
          body: { line_items: [{ product_id: 3, quantity: 2 }], status: "pending" },
          status: 201,
          json: { ...order, status: "pending" },
        },
      ],
      returns: { ...order, status: "pending" },
    },
    {
      action: "create_coupon",
      props: { code: "TEA", discount_type: "percent", amount: "10" },
      exchanges: [
        {
          request: `POST ${shop}/coupons`,
          body: { code: "TEA", discount_type: "percent", amount: "10" },
          status: 201,
          json: { id: 5, code: "tea", amount: "10.00" },
        },
      ],
      returns: { id: 5, code: "tea", amount: "10.00" },
    },
    {
      action: "list_products",
      props: { search: "cup", category_id: 5 },
      exchanges: [
        {
          request: `GET ${shop}/products?search=cup&category=5&page=1&per_page=10`,
          json: [{ id: 3, name: "Cup" }],
        },
      ],
      returns: [{ id: 3, name: "Cup" }],
    },
    {
      action: "update_product",
      props: { product_id: 3, name: "Big cup", featured: "yes" },
      exchanges: [{ request: `PUT ${shop}/products/3`, body: { name: "Big cup", featured: true }, json: { id: 3, name: "Big cup" } }],
      returns: { id: 3, name: "Big cup" },
    },
    {
      action: "add_order_note",
      props: { id: "7", note: "Packed", customer_note: true },
      exchanges: [
        {
          request: `POST ${shop}/orders/7/notes`,
          body: { note: "Packed", customer_note: true },
          status: 201,
          json: { id: 1, note: "Packed" },
        },
      ],
      returns: { id: 1, note: "Packed" },
    },
    {
      action: "batch_update_products",
      props: { updates: [{ id: 3, regular_price: "9" }] },
      exchanges: [
        {
          request: `POST ${shop}/products/batch`,
          body: { update: [{ id: 3, regular_price: "9" }] },
          json: { update: [{ id: 3, regular_price: "9" }] },
        },
      ],
      returns: { update: [{ id: 3, regular_price: "9" }] },
    },
    {
      action: "get_order",
      when: "there is no such order",
      props: { id: "9" },
      exchanges: [
        {
          request: `GET ${shop}/orders/9`,
          status: 404,
          json: { code: "woocommerce_rest_shop_order_invalid_id", message: "Invalid ID.", data: { status: 404 } },
        },
      ],
      throws: like(/404|Invalid ID/),
    },
  ],
};

const blog = "https://blog.example.com/wp-json/wp/v2";
const post = (id: number, date: string) => ({ id, date, status: "publish", title: { rendered: "Tea" } });
const newest = `GET ${blog}/posts?orderby=date&order=desc&before=*&after=*&per_page=100&page=1`;
const pngAnswer = { "content-type": "image/png", "content-disposition": 'attachment; filename="cup.png"' };
const wordpress: Service = {
  piece: "wordpress@0.7.0",
  family: basicAuth("ada", "abcd efgh ijkl"),
  auth: { username: "ada", password: "abcd efgh ijkl", website_url: "https://blog.example.com" },
  cases: [
    {
      action: "create_blog_post",
      props: { title: "Tea", content: "<p>Green</p>", status: "draft", tags: ["3"] },
      exchanges: [
        {
          request: `POST ${blog}/posts`,
          body: { title: "Tea", content: "<p>Green</p>", status: "draft", tags: [3] },
          status: 201,
          json: post(8, "2026-01-01T00:00:00"),
        },
      ],
      returns: containing({ id: 8, status: "publish" }),
    },
    {
      action: "get_post_by_id",
      props: { post_id: 7 },
      exchanges: [{ request: `GET ${blog}/posts/7`, json: post(7, "2026-01-01T00:00:00") }],
      returns: containing({ id: 7 }),
    },
    {
      action: "create_post",
      props: { title: "Tea", content: "Green", featured_media_file: "https://images.example.com/download?id=3" },
      exchanges: [
        { request: "GET https://images.example.com/download?id=3", unproven: true, text: "hi", answerHeaders: pngAnswer },
        { request: "GET https://blog.example.com/", unproven: true, text: "<html></html>" },
        {
          request: `POST ${blog}/media`,
          encoding: "multipart",
          body: { file: { filename: "cup.png", type: "image/png", text: "hi" } },
          status: 201,
          json: { id: 12 },
        },
        {
          request: `POST ${blog}/posts`,
          body: { title: "Tea", content: "Green", featured_media: 12 },
          status: 201,
          json: post(8, "2026-01-01T00:00:00"),
        },
      ],
      returns: containing({ status: 201, body: post(8, "2026-01-01T00:00:00") }),
    },
    {
      action: "create_category",
      props: { name: "Tea" },
      exchanges: [{ request: `POST ${blog}/categories`, body: { name: "Tea" }, status: 201, json: { id: 4, name: "Tea", slug: "tea" } }],
      returns: containing({ created: true }),
    },
    {
      action: "moderate_comment",
      props: { comment_id: 5, status: "approve" },
      exchanges: [{ request: `POST ${blog}/comments/5`, body: { status: "approve" }, json: { id: 5, status: "approved" } }],
      returns: containing({ id: 5, status: "approved" }),
    },
    {
      action: "upload_media",
      props: { file: "data:image/png;name=cup.png;base64,aGk=", title: "Cup" },
      exchanges: [
        {
          request: `POST ${blog}/media`,
          encoding: "multipart",
          body: { file: { filename: "cup.png", type: "image/png", text: "hi" }, title: "Cup" },
          status: 201,
          json: { id: 12, media_type: "image", source_url: "https://blog.example.com/cup.png" },
        },
      ],
      returns: containing({ id: 12 }),
    },
    {
      action: "get_current_user",
      exchanges: [{ request: `GET ${blog}/users/me?context=edit`, json: { id: 1, name: "Ada", roles: ["editor"] } }],
      returns: containing({ id: 1, name: "Ada" }),
    },
    {
      action: "trash_post",
      props: { post_id: 7 },
      exchanges: [{ request: `DELETE ${blog}/posts/7`, json: { ...post(7, "2026-01-01T00:00:00"), status: "trash" } }],
      returns: containing({ id: 7, status: "trash" }),
    },
    {
      action: "get_current_user",
      when: "the password is refused",
      exchanges: [
        {
          request: `GET ${blog}/users/me?context=edit`,
          status: 401,
          json: { code: "incorrect_password", message: "The provided password is an invalid application password.", data: { status: 401 } },
        },
      ],
      throws: like(/401|password/),
    },
    {
      trigger: "new_post",
      calls: [
        { call: "activate" },
        { call: "poll", exchanges: [{ request: newest, json: [] }] },
        {
          call: "poll",
          exchanges: [{ request: newest, json: [post(9, "2099-01-02T00:00:00"), post(8, "2099-01-01T00:00:00")] }],
          emits: [post(8, "2099-01-01T00:00:00"), post(9, "2099-01-02T00:00:00")],
        },
      ],
    },
  ],
};

const bucket = "https://tea.s3.eu-west-1.amazonaws.com";
const object = (key: string, at: string): string =>
  `<Contents><Key>${key}</Key><LastModified>${at}</LastModified><ETag>"e"</ETag><Size>2</Size><StorageClass>STANDARD</StorageClass></Contents>`;
const listing = (...objects: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>tea</Name><Prefix>in</Prefix><KeyCount>${objects.length}</KeyCount><MaxKeys>100</MaxKeys><IsTruncated>false</IsTruncated>${objects.join("")}</ListBucketResult>`;
const xml = { "content-type": "application/xml" };
const list = `GET ${bucket}/?list-type=2&max-keys=100&prefix=in`;
const amazon: Service = {
  piece: "amazon-s3@0.3.1",
  family: s3("eu-west-1", "AKIDEXAMPLE", "secret-key"),
  auth: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret-key", bucket: "tea", region: "eu-west-1" },
  cases: [
    {
      action: "upload-file",
      props: { file: "data:text/plain;base64,aGk=", fileName: "note", acl: "private", type: "text/plain" },
      exchanges: [{ request: `PUT ${bucket}/note.plain?x-id=PutObject`, body: "hi", headers: { "content-type": "text/plain" } }],
      returns: containing({ fileName: "note.plain" }),
    },
    {
      action: "read-file",
      props: { key: "note.txt" },
      exchanges: [{ request: `GET ${bucket}/note.txt?x-id=GetObject`, text: "hi", answerHeaders: { "content-type": "text/plain" } }],
      returns: like(/^\/tmp\/.+-note\.txt$/),
    },
    {
      action: "read-file",
      when: "there is no such object",
      props: { key: "none.txt" },
      exchanges: [
        {
          request: `GET ${bucket}/none.txt?x-id=GetObject`,
          status: 404,
          answerHeaders: xml,
          text: '<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>none.txt</Key></Error>',
        },
      ],
      throws: like(/specified key does not exist|NoSuchKey/),
    },
    {
      trigger: "new_file",
      props: { folderPath: "in/" },
      calls: [
        {
          call: "activate",
          exchanges: [{ request: list, answerHeaders: xml, text: listing(object("in/a.txt", "2026-01-01T00:00:00.000Z")) }],
        },
        {
          call: "poll",
          exchanges: [
            {
              request: `${list}&start-after=in%2Fa.txt`,
              answerHeaders: xml,
              text: listing(object("in/b.txt", "2026-01-02T00:00:00.000Z")),
            },
          ],
          emits: [containing({ Key: "in/b.txt" })],
        },
      ],
    },
  ],
};

export const shopServices: readonly Service[] = [woocommerce, wordpress, amazon];
