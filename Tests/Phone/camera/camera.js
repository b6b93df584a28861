// In place of the browser's camera: a picture with as many details as a room has, and at its top
// the time at which the page took it, in 32 fields that are white for 1, in milliseconds of UTC.
"use strict";
const stamp = (pen, width, height) => {
  const now = Math.round(performance.timeOrigin + performance.now()) % 2 ** 32;
  for (let bit = 0; bit < 32; bit++) {
    pen.fillStyle = Math.floor(now / 2 ** (31 - bit)) % 2 ? "#fff" : "#000";
    pen.fillRect(bit * width / 32, 0, width / 32 + 1, height / 8);
  }
};
const draw = CanvasRenderingContext2D.prototype.drawImage;
CanvasRenderingContext2D.prototype.drawImage = function (source, ...place) {
  draw.call(this, source, ...place);
  if (source instanceof HTMLVideoElement) stamp(this, this.canvas.width, this.canvas.height);
};
navigator.mediaDevices.getUserMedia = async ({ video }) => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  const size = [video.width.ideal, video.height.ideal], room = document.createElement("canvas");
  [room.width, room.height] = [2 * size[0], 2 * size[1]];
  const painter = room.getContext("2d");
  for (let index = 0; index < 1500; index++) {
    painter.fillStyle = `hsl(${index * 47 % 360} 45% ${20 + index * 31 % 60}%)`;
    painter.fillRect(index * 7919 % room.width, index * 104729 % room.height, 90, 60);
  }
  [canvas.width, canvas.height] = size;
  let count = 0;
  const timer = setInterval(() => {
    // A phone is turned every now and then.
    if (window.turns && count % 90 === 0) [canvas.width, canvas.height] = [canvas.height, canvas.width];
    draw.call(pen, room, -(count * 3 % size[0]), -(count % size[1]));
    count++;
  }, 1000 / 30);
  const stream = canvas.captureStream(30), track = stream.getVideoTracks()[0], stop = track.stop;
  track.stop = () => { clearInterval(timer); stop.call(track); };
  return stream;
};
