import { alike, type FailureSigns } from './failure-sign.ts';

const LINE_ENDS = 'end every line of the response head, and every chunk, in CR LF';
const ONE_LENGTH =
  'send either Content-Length, once and with the length of the body, or Transfer-Encoding: chunked';
const CHUNKS = 'leave chunked encoding to the HTTP server, or send Content-Length';
const HEADERS = 'look for a line break, a control character or a space in a header that the app sets';

/**
 * Why a response cannot be read (RFC 9112): each reason that llhttp, the parser in undici, gives for a response, and
 * undici's own. Before the status line they are the verdict; after it, a note in the log.
 */
export const HTTP_SIGNS: FailureSigns = {
  ...alike(
    [
      'Invalid word encountered',
      'Invalid method encountered',
      'Invalid HTTP version',
      'Invalid major version',
      'Invalid minor version',
      'Expected dot',
      'Expected HTTP/, RTSP/ or ICE/',
      'Expected space after version',
      'Expected HTTP/2 Connection Preface',
    ],
    'the response does not begin like HTTP/1.1',
    'register the port of the HTTP server, and let it speak HTTP/1.1 over TLS',
  ),
  ...alike(
    ['Invalid status code', 'Invalid response status'],
    'the status line has no status of three digits',
    'let the app set a status between 200 and 599',
  ),
  ...alike(
    ['Invalid header token', 'Invalid header field char', 'Invalid header value char'],
    'a header of the response has a character that HTTP does not allow',
    HEADERS,
  ),
  ...alike(
    ['Unexpected whitespace after header value', 'Unexpected space after start line'],
    'the response head has a space where none may be',
    HEADERS,
  ),
  ...alike(
    [
      'Missing expected CR after response line',
      'Missing expected CR after header value',
      'Missing expected LF after header value',
      'Expected LF after headers',
      'Expected CRLF after version',
      'Expected CRLF',
      'Expected LF after CR',
    ],
    'a line of the response head does not end as HTTP says',
    LINE_ENDS,
  ),
  ...alike(
    ['Empty Content-Length', 'Invalid character in Content-Length', 'Content-Length overflow'],
    'Content-Length is not a number of bytes',
    ONE_LENGTH,
  ),
  ...alike(
    [
      'Duplicate Content-Length',
      "Transfer-Encoding can't be present with Content-Length",
      "Content-Length can't be present with Transfer-Encoding",
    ],
    'the response states its length twice',
    ONE_LENGTH,
  ),
  ...alike(
    ['Invalid `Transfer-Encoding` header value'],
    'the body has a transfer coding that is not chunked at its end',
    ONE_LENGTH,
  ),
  ...alike(
    [
      'Chunk size overflow',
      'Invalid character in chunk size',
      'Missing expected CR after chunk size',
      'Expected LF after chunk size',
      'Missing expected CR after chunk data',
      'Expected LF after chunk data',
      'Invalid character in chunk extensions',
      'Invalid character in chunk extensions name',
      'Missing expected CR after chunk extension name',
      'Invalid character in chunk extensions value',
      'Missing expected CR after chunk extension value',
      'Invalid character in chunk extensions quote value',
      'Invalid character in chunk extensions quoted value',
      'Invalid quoted-pair in chunk extensions quoted value',
    ],
    'a chunk of the body is malformed',
    CHUNKS,
  ),
  ...alike(
    ['Data after `Connection: close`'],
    'more data followed a response that said it was the last',
    CHUNKS,
  ),
  ...alike(
    ['Invalid EOF state'],
    'the connection closed in the middle of the response',
    'look for a crash or a time limit of the app, or of the proxy in front of it',
  ),
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    says: 'the body is not as long as Content-Length says',
    remedy: ONE_LENGTH,
  },
};
