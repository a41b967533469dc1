/** Being called: `POST /mcp`, and the pages that say whether the player lives. */

import { createServer } from "node:http";

import { PROTOCOL, VERSION } from "./version.js";

/**
 * @typedef {import("node:http").IncomingMessage} Request
 * @typedef {import("node:http").ServerResponse} Response
 * @typedef {import("./desk.js").Desk} Desk
 */

export const BODY_BYTES_MAX = 1024 * 1024;
const UNREAD_BYTES_MAX = 16 * BODY_BYTES_MAX;
const CONNECTIONS_MAX = 256;
const DRAIN_MS = 5000;

const NOTHING = "nothing here; the protocol is at POST /mcp\n";

/** A listening player. */
export class Endpoint {
  #server;
  #desk;
  #since = performance.now();

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
    const limits = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 10_000 };
    this.#server = createServer(limits, (request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /**
   * Listens; gives the port.
   * @param {string} host @param {number} port
   * @returns {Promise<number>}
   */
  listen(host, port) {
    return new Promise((done, fail) => {
      this.#server.once("error", fail);
      this.#server.listen(port, host, () => {
        this.#server.off("error", fail);
        const address = this.#server.address();
        done(typeof address === "object" && address !== null ? address.port : port);
      });
    });
  }

  /** Takes no more calls, and gives those that are being answered a while to end. */
  async close() {
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), DRAIN_MS);
    await closed;
    clearTimeout(timer);
  }

  /** @param {Request} request @param {Response} response */
  async #handle(request, response) {
    const path = (request.url ?? "").split("?")[0];
    const isMcp = path === "/mcp" || path === "/mcp/";
    if (request.method === "POST" && isMcp) return this.#call(request, response);
    request.resume();
    if (isMcp) {
      response.setHeader("Allow", "POST");
      return send(response, 405, "use POST with a JSON-RPC 2.0 body\n", "text/plain");
    }
    const isRead = request.method === "GET" || request.method === "HEAD";
    const page = isRead ? this.#page(path) : undefined;
    if (page === undefined) return send(response, 404, NOTHING, "text/plain");
    send(response, page.status, JSON.stringify(page.document) + "\n");
  }

  /** @param {string} path */
  #page(path) {
    switch (path) {
      case "/health": {
        const uptime_s = Math.floor((performance.now() - this.#since) / 1000);
        return { status: 200, document: { status: "ok", agent: "player", uptime_s } };
      }
      case "/ready":
        if (this.#desk.player.identity !== null) return { status: 200, document: { ready: true } };
        return { status: 503, document: { ready: false, reason: "not registered yet" } };
      case "/version": {
        const about = { agent: "player", version: "node/" + VERSION, protocol: PROTOCOL };
        return { status: 200, document: about };
      }
      default:
        return undefined;
    }
  }

  /** @param {Request} request @param {Response} response */
  async #call(request, response) {
    const mediaType = (request.headers["content-type"] ?? "").split(";")[0].trim().toLowerCase();
    const body = await read(request);
    if (body === null) {
      response.setHeader("Connection", "close");
      send(response, 413, "the body is larger than 1 MiB\n", "text/plain");
      return;
    }
    if (mediaType !== "application/json") {
      send(response, 415, "expected Content-Type: application/json\n", "text/plain");
      return;
    }
    const answer = await this.#desk.answer(body);
    send(response, answer.status, answer.body);
  }
}

/**
 * The body; null if it is too large. Some of what is too much is read as well: what is left unread
 * when a connection closes may take the answer back.
 * @param {Request} request
 * @returns {Promise<Buffer | null>}
 */
async function read(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length <= BODY_BYTES_MAX) parts.push(part);
    if (length > UNREAD_BYTES_MAX) break;
  }
  return length > BODY_BYTES_MAX ? null : Buffer.concat(parts);
}

/** @param {Response} response @param {number} status @param {string} body */
function send(response, status, body, mediaType = "application/json") {
  if (status === 503) response.setHeader("Retry-After", "1");
  const length = Buffer.byteLength(body);
  response.writeHead(status, { "Content-Type": mediaType, "Content-Length": length });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
