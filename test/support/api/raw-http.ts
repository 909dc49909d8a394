import { connect } from 'node:net';

/** Sends bytes as they are; resolves with what came back until the server ended the connection. */
export function speak(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (data) => {
      heard += data;
    });
    socket
      .on('end', () => socket.end())
      .on('close', () => resolve(heard))
      .on('error', reject);
  });
}
