// Makes one picture smaller, in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { scaledPicture, type PictureTask } from './scale-picture.ts'

parentPort?.postMessage(scaledPicture(workerData as PictureTask), [])
