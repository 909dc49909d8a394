/** A body is read up to here so that the connection can be reused; a longer one ends the connection. */
export const BODY_READ_BYTES_MAX = 64 * 1024;
/** More header lines than this are an attack, whatever their size. Names and values in turn: two entries each. */
export const HEADER_LINES_MAX = 256;
/** Interim responses (1xx) before the final one. Endless ones would use up the time-out. */
export const INTERIM_MAX = 16;
/**
 * The most pieces (TLS records) of a response, and the most chunks of a body: each costs about ten microseconds of the
 * only event loop, however small it is.
 */
export const PIECES_MAX = 1024;
/**
 * Bytes before the head is complete, including those that no header limit counts, such as spaces and interim heads.
 */
export const HEAD_WIRE_BYTES_MAX = 64 * 1024;
/** Bytes of a whole response, framing included. */
export const WIRE_BYTES_MAX = 512 * 1024;
/** The longest time between the status line of a response and the end of what is read of it, milliseconds. */
export const READ_ON_MS_MAX = 1000;
