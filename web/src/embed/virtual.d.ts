/** The worker's code, including its WebAssembly. */
declare module 'virtual:worker' {
  const code: string;
  export default code;
}
